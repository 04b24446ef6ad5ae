"""Choosing query papers: a random sample per period, a sheet that the lead fills in, and an even choice from it."""
