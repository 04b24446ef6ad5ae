"""Jinja2 templates of labelling screens and reports."""
