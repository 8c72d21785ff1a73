"""Writes docs/python/reference.md: each method of `headwater.Generator`, an example and a picture.

`python reference.py FOLDER` writes the page and a picture of each distribution below the folder.
The numbers of examples and pictures are those of `Generator(42)`, which are the same on every
machine, so a test compares the files with those of the repository.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import headwater
import numpy as np
from headwater import Generator, Key

#: Numbers of a picture.
MANY = 100_000
WIDTH, HEIGHT, BARS = 320, 120, 64

#: Parameters of the example and of the picture, with the ends of the picture, then the domain.
DRAWN: dict[str, tuple[str, tuple[float, float] | None, str]] = {
    "random": ("", (0, 1), "no parameters; `dtype` is `float64` or `float32`"),
    "standard_normal": ("", (-4, 4), "no parameters; `dtype` is `float64` or `float32`"),
    "standard_exponential": ("", (0, 6), "no parameters; `dtype` is `float64` or `float32`"),
    "standard_gamma": ("2.5", (0, 9), "`shape` finite, above 0 (0 makes zeros, by NumPy's method)"),
    "standard_t": ("4", (-6, 6), "`df` finite, above 0"),
    "standard_cauchy": ("", (-10, 10), "no parameters"),
    "integers": ("0, 10", (-0.5, 9.5), "`low` below `high`, both in the range of `dtype`"),
    "uniform": ("-1, 2", (-1, 2), "`low` and `high` at a finite distance"),
    "normal": ("10, 2", (2, 18), "`loc` finite, `scale` finite and from 0"),
    "exponential": ("2.0", (0, 12), "`scale` finite and from 0"),
    "lognormal": ("0, 0.5", (0, 5), "`mean` finite, `sigma` finite and from 0"),
    "laplace": ("0, 1", (-6, 6), "`loc` finite, `scale` finite and from 0"),
    "logistic": ("0, 1", (-8, 8), "`loc` finite, `scale` finite and from 0"),
    "gumbel": ("0, 1", (-3, 8), "`loc` finite, `scale` finite and from 0"),
    "gamma": ("2.0, 3.0", (0, 24), "`shape` finite and above 0, `scale` finite and from 0"),
    "beta": ("2, 5", (0, 1), "`a` and `b` finite, above 0"),
    "chisquare": ("3", (0, 14), "`df` finite, above 0"),
    "noncentral_chisquare": ("3, 4", (0, 26), "`df` finite, above 0; `nonc` finite, from 0"),
    "f": ("5, 20", (0, 5), "`dfnum` and `dfden` finite, above 0"),
    "noncentral_f": ("5, 20, 3", (0, 8), "`dfnum` and `dfden` finite, above 0; `nonc` finite, from 0"),
    "vonmises": ("0, 2", (-3.1416, 3.1416), "`mu` an angle, `kappa` finite and from 0"),
    "pareto": ("3", (0, 3), "`a` finite, above 0"),
    "power": ("3", (0, 1), "`a` finite, above 0"),
    "rayleigh": ("1.0", (0, 4), "`scale` finite and from 0"),
    "weibull": ("1.5", (0, 4), "`a` finite, above 0"),
    "triangular": ("0, 1, 4", (0, 4), "`left` up to `mode` up to `right`, `left` below `right`"),
    "wald": ("1, 2", (0, 4), "`mean` and `scale` finite, above 0"),
    "maxwell": ("1.0", (0, 5), "`scale` finite and from 0"),
    "loggamma": ("0.5", (-10, 3), "`a` finite, above 0"),
    "binomial": ("20, 0.3", (-0.5, 20.5), "`n` from 0, `p` from 0 to 1"),
    "negative_binomial": ("5, 0.4", (-0.5, 30.5), "`n` finite, above 0; `p` above 0, at most 1"),
    "geometric": ("0.3", (0.5, 20.5), "`p` above 0, at most 1"),
    "hypergeometric": ("20, 30, 15", (-0.5, 15.5), "`nsample` up to `ngood + nbad`, each below 10^9"),
    "logseries": ("0.7", (0.5, 12.5), "`p` from 0 to below 1"),
    "poisson": ("4", (-0.5, 15.5), "`lam` from 0 to 9.2e18"),
    "zipf": ("2.5", (0.5, 12.5), "`a` finite, above 1"),
    "rademacher": ("", (-1.5, 1.5), "no parameters"),
    "bernoulli": ("0.25", (-0.5, 1.5), "`p` from 0 to 1"),
    "bits": ("", None, "`dtype` a type of unsigned integers"),
    "dirichlet": ("[1, 2, 5]", None, "`alpha` a list of numbers above 0"),
    "multinomial": ("20, [0.2, 0.3, 0.5]", None, "`n` from 0, `pvals` with the sum 1"),
    "multivariate_normal": (
        "[0, 10], [[1, 0.5], [0.5, 2]]", None, "`cov` symmetric and positive semidefinite",
    ),
    "multivariate_hypergeometric": ("[5, 6, 7], 9", None, "`nsample` up to the sum of `colors`"),
    "complex_normal": ("1 + 2j, 3.0", None, "`gamma` at least the size of `relation`"),
    "multivariate_complex_normal": ("[0, 1j]", None, "`gamma` Hermitian, `relation` symmetric"),
    "ball": ("3", None, "`d` from 1, `p` above 0"),
    "orthogonal": ("2", None, "`n` from 0"),
    "wishart": ("5, [[2, 0.5], [0.5, 1]]", None, "`df` above n - 1, or a whole number"),
}
#: Methods of one matrix in the example.
MATRICES = {"orthogonal", "wishart"}
#: Methods whose examples are calls of their own.
OTHERS = {
    "bytes": 'rng.bytes(4).hex()',
    "choice": 'rng.choice(["a", "b", "c"], 2, replace=False)',
    "permutation": "rng.permutation(5)",
    "permuted": "rng.permuted([[1, 2, 3], [4, 5, 6]], axis=1)",
    "shuffle": "items = [1, 2, 3, 4]; rng.shuffle(items); items",
    "spawn": "[child.random() for child in rng.spawn(2)]",
    "advance": "rng.advance(1000).random()",
    "jumped": "rng.jumped().random()",
}


def call(method: str, size: str) -> str:
    """Returns the call of the example."""
    parameters = DRAWN[method][0]
    return f"rng.{method}({', '.join(part for part in (parameters, size) if part)})"


def shown(expression: str) -> str:
    """Returns the lines of a Python session."""
    rng: dict[str, Any] = {"rng": Generator(42), "np": np}
    *before, last = expression.split("; ")
    for statement in before:
        exec(statement, rng)
    with np.printoptions(precision=6, suppress=True):
        value = repr(eval(last, rng))
    lines = [f">>> {statement}" for statement in (*before, last)]
    return "\n".join([">>> rng = headwater.Generator(42)", *lines, value])


def picture(method: str) -> str:
    """Returns a histogram as SVG."""
    parameters, ends, _ = DRAWN[method]
    assert ends is not None
    rng = Generator(Key(42).child(method))
    x = np.asarray(eval(call(method, f"size={MANY}"), {"rng": rng}), np.float64)
    low, high = ends
    bars = int(high - low) if low % 1 and high - low < BARS else BARS
    counts, _ = np.histogram(x, bars, (low, high))
    top = max(int(counts.max()), 1)
    wide, tall = WIDTH / bars, HEIGHT - 20
    bodies = "".join(
        f'<rect x="{i * wide:.2f}" y="{tall - tall * n / top:.1f}" width="{wide:.2f}" '
        f'height="{tall * n / top:.1f}"/>'
        for i, n in enumerate(counts.tolist())
        if n
    )
    title = f"{method}({parameters})"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Histogram of {title}"><title>{title}</title><g fill="#4a78a8">{bodies}</g>'
        f'<path d="M0 {tall}H{WIDTH}" stroke="#555"/><g font-size="11" font-family="sans-serif" '
        f'fill="#555"><text x="2" y="{HEIGHT - 6}">{low:g}</text><text x="{WIDTH - 2}" '
        f'y="{HEIGHT - 6}" text-anchor="end">{high:g}</text></g></svg>\n'
    )


def argument(parameter: inspect.Parameter) -> str:
    """Returns an argument as a reader passes it, with its default."""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name
    shown = default.__name__ if isinstance(default, type) else repr(default)
    return f"{parameter.name}={shown}"


def section(method: str) -> str:
    """Returns the text of one method."""
    function = getattr(Generator, method)
    signature = ", ".join(map(argument, inspect.signature(function).parameters.values()))
    about = inspect.getdoc(function) or ""
    text = about.split("\n>>>")[0].split("\n\n>>>")[0].strip()
    lines = [f"## {method}", "", f"`rng.{method}({signature.removeprefix('self').removeprefix(', ')})`", "", text, ""]
    if method in DRAWN:
        _, ends, domain = DRAWN[method]
        lines += [f"Domain: {domain}.", ""]
        lines += ["```python", shown(call(method, "" if method in MATRICES else "size=3")), "", "```", ""]
        if ends is not None:
            lines += [f"![histogram](reference/{method}.svg)", ""]
    else:
        lines += ["```python", shown(OTHERS[method]), "", "```", ""]
    return "\n".join(lines)


HEAD = """# Reference of headwater.Generator

Each method with its arguments, its domain, an example and a histogram of 100,000 numbers.
`fronts/python/examples/reference.py` writes this page. [generator.md](generator.md) says how the
values follow from the seed and the cursor.

`size` is None for one number, an integer, or a shape. Parameters of a distribution of numbers may
be arrays, which broadcast with each other and with `size`. A value outside of the domain raises
NumPy's `ValueError`, and nothing is drawn then.

```python
>>> import headwater
>>> import numpy as np
>>> np.set_printoptions(precision=6, suppress=True)

```

"""


def write(folder: Path) -> list[Path]:
    """Writes the page and the pictures, and returns their paths."""
    methods = sorted([*DRAWN, *OTHERS])
    page = folder / "reference.md"
    page.write_text(HEAD + "\n".join(section(method) for method in methods).rstrip() + "\n")
    pictures = folder / "reference"
    pictures.mkdir(exist_ok=True)
    written = [page]
    for method in methods:
        if method in DRAWN and DRAWN[method][1] is not None:
            written.append(pictures / f"{method}.svg")
            written[-1].write_text(picture(method))
    return written


if __name__ == "__main__":
    assert headwater.__version__
    for path in write(Path(sys.argv[1])):
        print(path)
