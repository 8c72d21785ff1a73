"""The cases of the vectors that this specification writes."""

import json
import math
import struct

from .engines import root_key

TINY = 2.0**-1074
MOST = 1.7976931348623157e308
INF = math.inf


def hexadecimal(x):
    return struct.pack(">d", x).hex()


SCALARS = [
    *[
        ("categorical", weights)
        for weights in (
            [1],
            [1, 1],
            [0, 1],
            [1, 0],
            [0.25, 0.75],
            [3, 1, 0, 2],
            [0, 0, TINY],
            [TINY, 2 * TINY, 3 * TINY, 0],
            [MOST, MOST, MOST / 2],
            [MOST, TINY],
            [1, 1e-20, 1e20, 1e-5],
            [0.1] * 10,
            list(range(100)),
            [1 / (i + 1) for i in range(257)],
            [2.0**-i for i in range(200)],
        )
    ],
    *[
        ("truncated_normal", list(case))
        for case in (
            (0, 1, -INF, INF),
            (0, 1, 0, INF),
            (0, 1, -INF, 0),
            (2, 3, -1, 4),
            (0, 1, -0.5, 0.25),
            (0, 1, -0.0, 0.1),
            (0, 1, 0.5, 3),
            (0, 1, 3, INF),
            (0, 1, -INF, -3),
            (5, 2, -30, -29),
            (0, 1, 8, 9),
            (0, 1, 40, INF),
            (0, 1, 1e6, INF),
            (0, 1, 1e200, INF),
            (-1e308, 1, 1e308, INF),
            (1e20, 3, 0, 1),
            (0, 1e300, -TINY, TINY),
            (0, TINY, -1, 1),
            (0, 1e308, -1e308, MOST),
            (0, 1, 30, 30.001),
        )
    ],
    *[
        ("von_mises", list(case))
        for case in (
            (0, 0), (0, 0.1), (1, 0.374), (1, 0.375), (-3, 0.5), (math.pi, 1), (-math.pi, 4), (0, 30), (2, 1e4),
            (0.5, 1e12), (-1, 1e300), (0, TINY),
        )
    ],
]

# Vectors. The first parameter of counts is the number of trials or the size of the sample, an integer.
ROWS = [
    ("dirichlet", [1.0]),
    ("dirichlet", [1, 1]),
    ("dirichlet", [0.5, 2, 7]),
    ("dirichlet", [0.1, 0.2, 0.3, 0.4]),
    ("dirichlet", [1e-3, 1e-3, 1e-3]),
    ("dirichlet", [1e-310, 1e-300, TINY]),
    ("dirichlet", [1e-310, 1]),
    ("dirichlet", [1e250, 1e250, 1]),
    ("dirichlet", [30, 0.99, 4, 1.5, 100]),
    ("multivariate_normal", [3, 4]),
    ("multivariate_normal", [0, 1, 1, 0.5, 0.5, 2]),
    ("multivariate_normal", [0, 0, 1, 1, 1, 1]),
    ("multivariate_normal", [1, 2, 0, 0, 0, 4]),
    ("multivariate_normal", [5, 6, 0, 0, 0, 0]),
    ("multivariate_normal", [1, 2, 3, 4, 2, 0.6, 2, 5, 1.5, 0.6, 1.5, 3]),
    ("multinomial", [0, 1, 2]),
    ("multinomial", [10, 1]),
    ("multinomial", [10, 1, 1, 1]),
    ("multinomial", [20, 0, 3, 0, 1, 0]),
    ("multinomial", [1000, 5, 1, 1, 3]),
    ("multinomial", [100, 1e-9, 90, 5, 5]),
    ("multinomial", [10**6, 1, 2, 3, 4, 1e-5]),
    ("multinomial", [2**64 - 1, 0.5, 0.25, 0.25]),
    ("multinomial", [5, 1e300, 1e-300, 1e300]),
    ("multivariate_hypergeometric", [0, 3, 4]),
    ("multivariate_hypergeometric", [3, 5]),
    ("multivariate_hypergeometric", [7, 5, 0, 9, 2]),
    ("multivariate_hypergeometric", [14, 5, 0, 9, 2]),
    ("multivariate_hypergeometric", [500, 1000, 300, 20, 700]),
    ("multivariate_hypergeometric", [1500, 1000, 300, 20, 700]),
    ("multivariate_hypergeometric", [10**9, 4 * 10**9, 10**8, 3, 7 * 10**12]),
    ("multivariate_hypergeometric", [2**52, 2**51, 2**52, 2**51]),
    ("multivariate_hypergeometric", [40, 10**15, 10**15, 10**15]),
    ("sobol", [1, 1]),
    ("sobol", [5, 0]),
    ("sobol", [5, 1]),
    ("sobol", [40, 1]),
]


def cases():
    """Cases without their values."""
    for kind, parameters in SCALARS:
        for engine, stream, start, count in (("ars7", 0, 0, 12), ("philox4x32", 1000, 2**33 - 3, 6)):
            yield {
                "kind": kind,
                "value": "u64" if kind == "categorical" else "f64",
                "engine": engine,
                "seed": "42",
                "key": root_key(engine, 42).hex(),
                "stream": stream,
                "parameters": [hexadecimal(x) for x in parameters],
                "start": str(start),
                "values": [None] * count,
            }
    for kind, parameters in ROWS:
        counts = kind in ("multinomial", "multivariate_hypergeometric")
        trials = {"n": str(parameters[0])} if counts else {}
        for engine, stream, start, count in (("ars7", 3, 0, 4), ("philox4x32", 1000, 2**33 - 1, 2)):
            yield {
                "kind": kind,
                "value": "u64" if counts else "f64",
                "engine": engine,
                "seed": "42",
                "key": root_key(engine, 42).hex(),
                "stream": stream,
                **trials,
                "parameters": [hexadecimal(x) for x in parameters[counts:]],
                "start": str(start),
                "vectors": count,
                "values": [],
            }
    for kind, value in (
        ("f16", "u16"), ("bf16", "u16"), ("normal_f16", "u16"), ("normal_bf16", "u16"), ("complex_normal_f64", "f64"),
        ("complex_normal_f32", "f32"),
    ):
        for engine, stream, start, count in (("ars7", 0, 0, 24), ("philox4x32", 1000, 2**33 - 3, 9)):
            yield {
                "kind": kind,
                "value": value,
                "engine": engine,
                "seed": "42",
                "key": root_key(engine, 42).hex(),
                "stream": stream,
                "parameters": [],
                "start": str(start),
                **({"vectors": count} if kind.startswith("complex") else {}),
                "values": [None] * count,
            }


ABOUT = (
    "values start, start + 1 and so on of a distribution, from stream number stream of the key of the integer seed 42. "
    "Floats and parameters are the hexadecimal digits of their bits, the highest first; u16 stands for the bits of a float "
    "of 16 bits. Written by streams/vectors/streams.py."
)


def document(compute):
    """The text of the file, with values by the function."""
    lines = []
    for case in cases():
        case["values"] = compute(case)
        lines.append("    " + json.dumps(case))
    head = {"schema": "headwater.vectors.samplers/1", "spec": "hw-streams-v1", "about": ABOUT}
    fields = "".join(f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    return "{\n" + fields + '  "cases": [\n' + ",\n".join(lines) + "\n  ]\n}\n"
