"""Rows against NumPy's generators, each a call that fills an array of 160 KiB."""

from __future__ import annotations

from headwater.bench._measure import Row

#: Values in a call: the array stays in the second-level cache.
VALUES = 20_480

SETUP = f"""
import numpy as np
from numpy.random import Generator, PCG64, SFC64
from headwater.numpy import ARS7
ours, sfc, pcg = Generator(ARS7(1)), Generator(SFC64(1)), Generator(PCG64(1))
n = {VALUES}
doubles, floats = np.empty(n), np.empty(n, np.float32)
"""

CALLS = {
    "double": "{}.random(out=doubles)",
    "float32": "{}.random(dtype=np.float32, out=floats)",
    "normal": "{}.standard_normal(out=doubles)",
    "integers": "{}.integers(0, 1000, n)",
    "gamma": "{}.standard_gamma(2.0, out=doubles)",
}


def rows() -> list[Row]:
    """Returns the rows: all calls against SFC64, those of more than one word against PCG64."""
    return [
        Row(
            name=f"Generator(ARS7) {call}, by {peer.upper()}64",
            peer=statement.format(peer),
            ours=statement.format("ours"),
            setup=SETUP,
            target=0.85 if peer == "sfc" else 1.0,
            values=VALUES,
        )
        for peer in ("sfc", "pcg")
        for call, statement in CALLS.items()
        if peer == "sfc" or call not in ("double", "float32")
    ]
