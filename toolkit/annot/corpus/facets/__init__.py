"""The packaged model of sentence labels, and its card."""
