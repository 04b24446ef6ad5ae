"""Sentence labels and the facets they map to: learning, predicting and scoring labels, and making queries of them."""
