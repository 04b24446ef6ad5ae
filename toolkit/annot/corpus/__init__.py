"""The papers: taking them in, filters, labels of their sentences, copies of one another.

Uses the rooms up to `study`. Begin with `adding` and `facets`.
"""
