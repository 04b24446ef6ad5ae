"""Computations from grades and runs: agreement, its diagnosis, evaluation, reusability, forecasts.

Numbers in, numbers out, but for the modules at the top of the room, which read a study. Uses the rooms up to `pools`.
Begin with `agreement` and `evaluation`.
"""
