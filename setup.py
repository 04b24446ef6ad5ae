"""Says how to get a Python that fits if this one does not; everything else about the package is in pyproject.toml."""

import sys

from setuptools import setup

LINE = "uv tool install --python 3.13 ."

if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(
        f"annot needs Python 3.11, 3.12 or 3.13, and this is {sys.version_info[0]}.{sys.version_info[1]}. uv brings a "
        f"Python of its own; in the folder of annot, run: {LINE}"
    )

setup()
