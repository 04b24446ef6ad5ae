"""The working state of a study in SQLite or PostgreSQL."""
