"""Records, errors, settings, statistics and writing of text that every room uses.

Uses no other room. Begin with `records`: what a paper, a pool, a judgement and a grade are.
"""
