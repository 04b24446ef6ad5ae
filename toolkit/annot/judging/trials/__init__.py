"""Judging that never counts as the collection's: which pairs, in which order, and what the answers show."""
