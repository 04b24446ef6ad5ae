"""Judging guidelines, one Markdown file a facet and a general one."""
