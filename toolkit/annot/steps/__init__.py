"""The steps: read, compute, write. Each command and each function of the library calls one of them.

Uses the rooms up to `publishing`; no step uses another. Begin with `pool`, `plan` and `exchange`.
"""
