"""The library that `import annot` offers: the computations of the command line, with pandas at both ends.

Uses the rooms up to `steps`, and no room but the command line uses it. Begin with `opening` and `agreeing`.
"""
