"""Assessors looked at one by one and two by two: how they judge, whether they change, and why they disagree."""
