"""The frozen baseline runs of the demonstration."""
