"""The steps: read, compute, write. A command of the command line calls one of them.

Uses the rooms up to `api`, and no step another. Begin with `pool`, `push` and `pull`.
"""
