"""The packaged demo corpus of fictional papers, and the assessors who are simulated on it."""
