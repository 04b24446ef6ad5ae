"""Runs evaluated against relevance judgements."""
