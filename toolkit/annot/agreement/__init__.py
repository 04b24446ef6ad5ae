"""Agreement between assessors: coefficients, intervals and tables."""
