"""Reusability of the pools: scores of systems that did not help to build them."""
