"""Figures that papers print, one TOML file a table or two; figures only."""
