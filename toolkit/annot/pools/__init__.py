"""Queries and their pools: choosing query papers, drawing, admitting, adding later, drawing again.

Uses the rooms up to `ranking`. Begin with `pooling` and `drawn_pools`.
"""
