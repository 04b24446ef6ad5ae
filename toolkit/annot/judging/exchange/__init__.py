"""Tasks out to Label Studio, and answers back. Begin with `collecting`, which says what a round is."""
