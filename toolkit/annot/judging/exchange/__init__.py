"""Tasks out to Label Studio, and answers back. Begin with `rounds`."""
