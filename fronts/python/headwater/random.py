"""The door for libraries that ask a bit generator's package for its `default_rng`, as Dask does."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwater.numpy import ARS7

__all__ = ["default_rng"]


def default_rng(seed: Any = None) -> np.random.Generator:
    """Returns a `numpy.random.Generator`: over `ARS7(seed)`, or over a given bit generator."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.BitGenerator):
        return np.random.Generator(seed)
    return np.random.Generator(ARS7(seed))
