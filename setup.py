"""The packages: all in toolkit/, and the folders of data that stand at the top level. The rest is in pyproject.toml."""

from setuptools import find_packages, setup

DATA = (
    *("annot.demo.frozen_rankings", "annot.demo.frozen_runs"),
    *("annot.guidelines", "annot.templates", "annot.templates.report"),
)

setup(packages=[*find_packages("toolkit"), *DATA])
