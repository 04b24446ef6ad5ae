"""One module per arrow of the flow: read, compute, write."""
