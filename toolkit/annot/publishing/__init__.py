"""Pages and files for readers: the reports, the page that shows the collection, the release with its datasheet.

Uses the rooms up to `judging`. Begin with `report`.
"""
