"""The steps: read, compute, write. Each command calls one of them.

Uses the rooms up to `api`; no step uses another. Begin with `pool`, `plan` and `exchange`.
"""
