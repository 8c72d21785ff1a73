"""Draws what streams promise: densities, one array from four chunkings, and speed beside NumPy.

    python plots.py [DIRECTORY]

writes `densities.png`, `chunkings.png` and `speed.png`. It needs matplotlib and NumPy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no display is needed

import matplotlib.pyplot as plt
import numpy as np
from headwater import Key
from headwater.bench import streams as rows
from headwater.bench._measure import measure

KEY = Key(42).child("plots")
#: Numbers of one histogram.
MANY = 1_000_000
#: Side of the picture that is made in chunks.
SIDE = 128


def densities(path: Path) -> float:
    """Draws histograms with their densities, and returns their largest distance, 0 to 1."""
    kinds: list[tuple[str, Any, tuple[float, float], Callable[[Any], Any]]] = [
        ("uniform", KEY.stream(0).random(MANY), (0, 1), np.ones_like),
        (
            "normal",
            KEY.stream(1).standard_normal(MANY),
            (-3, 3),
            lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        ),
        ("exponential", KEY.stream(2).standard_exponential(MANY), (0, 4), lambda x: np.exp(-x)),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.5))
    worst = 0.0
    for axis, (name, values, (low, high), density) in zip(axes, kinds, strict=True):
        edges = np.linspace(low, high, 61)
        middle, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
        heights = np.histogram(values, edges)[0] / (MANY * width)
        axis.bar(middle, heights, width, alpha=0.5, label=f"{MANY:,} numbers")
        axis.plot(middle, density(middle), color="black", label="density")
        axis.set_title(name)
        axis.legend(fontsize=8)
        # Half of the area between the curves: the total variation distance.
        worst = max(worst, float(np.sum(np.abs(heights - density(middle))) * width / 2))
    save(figure, path)
    return worst


def chunked(edges: list[int]) -> Any:
    """Returns the rows of the picture, made from the last part to the first."""
    picture = np.empty((SIDE, SIDE), np.float32)
    stream = KEY.stream(3)
    for first, last in reversed(list(zip(edges[:-1], edges[1:], strict=True))):
        stream.standard_normal(out=picture[first:last], start=first * SIDE)
    return picture


def chunkings(path: Path) -> bool:
    """Draws one array from four chunkings, and returns true if all are equal to the last bit."""
    cuts = {
        "one part": [0, SIDE],
        "two halves": [0, SIDE // 2, SIDE],
        "a row at a time": list(range(SIDE + 1)),
        "five parts of any size": [0, 3, 50, 51, 97, SIDE],
    }
    pictures = {name: chunked(edges) for name, edges in cuts.items()}
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.4))
    for axis, (name, picture) in zip(axes, pictures.items(), strict=True):
        axis.imshow(picture, cmap="gray", interpolation="nearest")
        for edge in cuts[name][1:-1] if len(cuts[name]) < 10 else []:
            axis.axhline(edge - 0.5, color="tab:orange", linewidth=1)
        axis.set_title(name)
        axis.set_axis_off()
    save(figure, path)
    first, *others = pictures.values()
    return all(np.array_equal(first, other) for other in others)


def speed(path: Path) -> list[float]:
    """Draws the nanoseconds of a value, and returns the ratios."""
    chosen = [row for row in rows.rows() if "in cache" in row.name or row.name.endswith("10 M")]
    results = [measure(row) for row in chosen]
    figure, axis = plt.subplots(figsize=(8, 3.5))
    places = np.arange(len(results))
    axis.barh(places - 0.2, [r.peer_ns for r in results], 0.4, label="NumPy, PCG64")
    bars = axis.barh(places + 0.2, [r.ours_ns for r in results], 0.4, label="headwater, ars7")
    axis.bar_label(bars, [f"{r.ratio:.1f} times as fast" for r in results], padding=3, fontsize=8)
    axis.set_yticks(places, [r.name for r in results])
    axis.invert_yaxis()
    axis.set_xlabel("nanoseconds a value")
    axis.legend(fontsize=8)
    save(figure, path)
    return [result.ratio for result in results]


def save(figure: Any, path: Path) -> None:
    """Writes a figure, and frees its memory."""
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    distance = densities(directory / "densities.png")
    print(f"densities: total variation distance {distance:.4f} at most")
    equal = chunkings(directory / "chunkings.png")
    print("chunkings: equal" if equal else "chunkings: DIFFERENT")
    ratios = speed(directory / "speed.png")
    print(f"speed: {min(ratios):.1f} to {max(ratios):.1f} times as fast as NumPy's PCG64")
    if not equal:
        sys.exit(1)


if __name__ == "__main__":
    main()
