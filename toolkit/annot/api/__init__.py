"""What `import annot` offers: computed by the same rooms as the command line, with pandas at both ends.

Uses the rooms up to `publishing`. Begin with `opening` and `agreeing`.
"""
