"""Rankings of the corpus for a query: methods on terms and vectors, the index they read, and the systems.

Uses the rooms up to `corpus`. Begin with `methods`, which lists them, and `index`.
"""
