"""Folds of queries that keep papers together, and what leaks from one fold into another."""
