"""Types of arrays that functions of figures take and return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Matrix = NDArray[np.float32]
"""Vectors of encoders and of decompositions, one per row."""
