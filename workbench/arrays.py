"""The array of doubles that signatures speak of."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
