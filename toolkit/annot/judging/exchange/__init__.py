"""Tasks out to Label Studio, and answers back. Begin with `collecting`, which defines a round."""
