"""The prose of the report, section by section, and the columns of its tables."""
