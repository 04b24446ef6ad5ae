"""The library: what `import annot` offers, computed by the same rooms as the command line, with pandas at both ends."""
