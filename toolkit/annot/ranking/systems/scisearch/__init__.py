"""SciSearch: a small network over the vectors of query and candidate, trained on the grades."""
