"""Diagnosis of assessors one by one and two by two: severity, noise, drift, and reasons for disagreement."""
