"""The library that `import annot` offers: the computations of the command line, with pandas at both ends.

Uses the rooms up to `publishing`. Begin with `opening` and `agreeing`.
"""
