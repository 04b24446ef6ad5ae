"""The systems that rank pools: those of the source papers by their names, and what a user brings."""
