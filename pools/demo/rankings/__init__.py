"""The frozen rankings of the demonstration."""
