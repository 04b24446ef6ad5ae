"""The prose of the report, section by section."""
