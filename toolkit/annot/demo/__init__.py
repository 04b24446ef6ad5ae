"""The packaged corpus of fictional papers, the assessors simulated on it, and the whole way that `annot demo` goes.

Uses the rooms up to `steps`. Begin with `whole_way`.
"""
