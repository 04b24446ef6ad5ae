"""The working state of a study in SQLite or PostgreSQL: one module a subject, over the tables in `models`.

Uses `base` and `formats`. Begin with `database`, which opens it, and `judgements`.
"""
