"""Sentence labels and the facets they map to."""
