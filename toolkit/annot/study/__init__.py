"""One study: its folder, the record of it that is read in one transaction, its grades, its guidelines, its backups.

Uses the rooms up to `labelstudio`. Begin with `workspace`, `snapshot` and `outcome`.
"""
