"""The parts of the report, one module a subject; `whole` puts them together."""
