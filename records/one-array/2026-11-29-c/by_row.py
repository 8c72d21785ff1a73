"""Columns of headwater_arrow_draw_by_row() beside those of headwater.pyarrow, whose loops differ.

usage: python by_row.py libheadwater.so    (with headwater, pyarrow and cffi)
"""

import ctypes
import sys

import headwater
import headwater.pyarrow
import numpy as np
import pyarrow as pa
from pyarrow.cffi import ffi

LIBRARY = ctypes.CDLL(sys.argv[1], use_errno=True)
POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
DRAW = LIBRARY.headwater_arrow_draw_by_row
DRAW.argtypes = [POINTER, TEXT, TEXT, TEXT, POINTER, POINTER, POINTER, ctypes.c_size_t,
                 ctypes.c_uint32, POINTER, POINTER, POINTER, POINTER, POINTER]
KEY = ctypes.create_string_buffer(256)
assert LIBRARY.headwater_stream_key_from_seed(KEY, 0, ctypes.c_uint64(42)) == 0
N = 5000


def address(struct):
    return int(ffi.cast("uintptr_t", struct))


def draw(kind, parameters, ids):
    """Returns a column and None, or None and a message."""
    n, kept = len(parameters), []

    def exported(array):
        structs = ffi.new("struct ArrowSchema*"), ffi.new("struct ArrowArray*")
        array._export_to_c(address(structs[1]), address(structs[0]))
        kept.append(structs)
        return [address(struct) for struct in structs]

    numbers = (ctypes.c_double * n)(*[float("nan")] * n)
    schemas, columns = (POINTER * n)(), (POINTER * n)()
    for place, parameter in enumerate(parameters):
        if isinstance(parameter, pa.Array):
            schemas[place], columns[place] = exported(parameter)
        else:
            numbers[place] = parameter
    made = ffi.new("struct ArrowSchema*"), ffi.new("struct ArrowArray*")
    message = ctypes.create_string_buffer(256)
    status = DRAW(KEY, b"n", kind.encode(), None, numbers, schemas, columns, n, 0, *exported(ids),
                  address(made[0]), address(made[1]), message)
    column = pa.Array._import_from_c(address(made[1]), address(made[0])) if status == 0 else None
    for schema, array in kept:
        array.release(array)
        schema.release(schema)
    return column, None if status == 0 else message.value.decode()


rng = np.random.default_rng(1)
some, runs = rng.uniform(0.1, 5, N), np.repeat(rng.uniform(0.2, 9, 50), 100)
places, shares, counts = rng.normal(0, 5, N), rng.uniform(0.05, 0.95, N), rng.integers(0, 200, N)
KINDS = [
    ("lognormal", "lognormal", [places / 5, some]),
    ("gamma", "standard_gamma", [some]),
    ("scaled_gamma", "gamma", [some, runs]),
    ("chi_square", "chisquare", [runs]),
    ("beta", "beta", [some, runs]),
    ("student_t", "standard_t", [runs]),
    ("geometric", "geometric", [shares]),
    ("poisson", "poisson", [some * 9]),
    ("binomial", "binomial", [counts, shares]),
    ("von_mises", "vonmises", [np.sin(places), some]),
    ("laplace", "laplace", [places, some]),
    ("scaled_normal", "normal", [places, some]),
    ("scaled_uniform", "uniform", [-some, runs]),
    ("scaled_exponential", "exponential", [runs]),
    ("rayleigh", "rayleigh", [some]),
    ("weibull", "weibull", [runs]),
    ("pareto", "pareto", [some]),
    ("power", "power", [some]),
    ("gumbel", "gumbel", [places, runs]),
    ("logistic", "logistic", [places, some]),
    ("cauchy", "cauchy", [places, some]),
    ("triangular", "triangular", [-some, shares, 1 + runs]),
    ("wald", "wald", [some, runs]),
    ("fisher_f", "f", [some, runs]),
    ("zipf", "zipf", [some + 1.01]),
    ("log_series", "logseries", [shares]),
    ("negative_binomial", "negative_binomial", [some, shares]),
    ("noncentral_chi_square", "noncentral_chisquare", [some, runs]),
    ("noncentral_f", "noncentral_f", [some + 1, runs, some]),
    ("hypergeometric", "hypergeometric", [counts + 1, counts[::-1] + 1, counts // 2]),
    ("log_gamma", "loggamma", [some]),
    ("maxwell", "maxwell", [some]),
]
counting, scattered = pa.array(range(N)), pa.array(rng.integers(0, 2**40, N))
with_nulls = pa.array([None if i % 13 == 5 else i * 3 for i in range(N)], pa.uint32())
equal = errors = 0
for kind, name, lists in KINDS:
    columns = [pa.array(values) for values in lists]
    is_real = [values.dtype.kind == "f" for values in lists]
    for case, parameters, ids in [
        ("counting ids", columns, counting),
        ("scattered ids", columns, scattered),
        ("one column", columns[:1] + [values[7].item() for values in lists[1:]], scattered),
        ("nulls", [pa.array([None if i % 7 == 3 else one for i, one in enumerate(values.tolist())])
                   for values in lists], with_nulls),
        ("narrow types", [pa.array(values.astype("f4" if real else "u2"))
                          for values, real in zip(lists, is_real)], scattered),
        ("slices", [column.slice(100, 2500) for column in columns], scattered.slice(10, 2500)),
        ("dictionaries", [column.dictionary_encode() for column in columns], scattered),
        ("row 3333 is wrong", [pa.array(np.where(np.arange(N) == 3333, np.nan if real else -1, values))
                               for values, real in zip(lists, is_real)], scattered),
        ("texts", [pa.array(["a"] * N), *columns[1:]], scattered),
    ]:
        made, message = draw(kind, parameters, ids)
        try:
            right = getattr(headwater.pyarrow, name)(ids, headwater.Key(42), *parameters, name="n")
        except (TypeError, ValueError) as error:
            # C has names of its own for parameters, and does not show a float's value.
            _, words = message.split(" ", 1)
            assert words in str(error), (kind, case, message, str(error))
            errors += 1
        else:
            assert message is None and made.equals(right), (kind, case, message)
            equal += 1
print(f"{len(KINDS)} kinds: {equal} columns are equal, and {errors} errors have the same words")
