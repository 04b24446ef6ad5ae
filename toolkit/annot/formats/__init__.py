"""Text to records and back, one module a format."""
