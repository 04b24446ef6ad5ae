"""Text to records and back, one module a format; nothing here knows of a study.

Uses `base`. Begin with `paper_records` and `trec`, the two that most studies meet.
"""
