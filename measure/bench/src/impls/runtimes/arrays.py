"""Fills arrays by NumPy and mkl_random when told to, and times itself; child.rs says how it is asked."""

import sys
import time

try:
    import numpy
except ImportError:
    print("error this Python has no NumPy", flush=True)
    sys.exit()
try:
    import mkl_random
except ImportError:
    mkl_random = None

BOUND = 1000


def by_numpy(name):
    generator = numpy.random.Generator(getattr(numpy.random, name)(42))

    def u64(out):
        out[:] = numpy.frombuffer(generator.bytes(out.nbytes), dtype=numpy.uint64)

    def bounded(out):  # there is no call that writes these into an array that is there
        out[:] = generator.integers(0, BOUND, out.size, numpy.uint64)

    def child(out):
        out[:] = generator.bit_generator.seed_seq.spawn(1)[0].generate_state(2, numpy.uint64)

    return {
        "stream-u64": u64,
        "stream-f64": lambda out: generator.random(out=out.view(numpy.float64)),
        "stream-normal": lambda out: generator.standard_normal(out=out.view(numpy.float64)),
        "stream-bounded": bounded,
        "stream-shuffle": generator.shuffle,
        "stream-child": child,
    }


def by_mkl(name):
    if mkl_random is None:
        return None
    state = mkl_random.RandomState(42, brng=name)

    def u64(out):
        out[:] = numpy.frombuffer(state.bytes(out.nbytes), dtype=numpy.uint64)

    def f64(out):
        out.view(numpy.float64)[:] = state.random_sample(out.size)

    def normal(out):
        out.view(numpy.float64)[:] = state.standard_normal(out.size)

    return {"stream-u64": u64, "stream-f64": f64, "stream-normal": normal}


FAMILIES = {
    "PCG64": lambda: by_numpy("PCG64"),
    "SFC64": lambda: by_numpy("SFC64"),
    "Philox": lambda: by_numpy("Philox"),
    "ARS5": lambda: by_mkl("ARS5"),
}
generators = {}
arrays = {}


def answer(verb, function, length, number):
    family, case = function.split(".")
    if family not in generators:
        generators[family] = FAMILIES[family]()
    if generators[family] is None:
        return "error this Python has no mkl_random"
    draw = generators[family].get(case)
    if draw is None:
        return f"error {family} has no call for {case}"
    if length not in arrays:
        arrays[length] = numpy.zeros(int(length) // 8, dtype=numpy.uint64)
    out = arrays[length]
    if verb == "sample":
        out.view(numpy.uint8)[:] = int(number)
        if case == "stream-shuffle":
            out[:] = numpy.arange(1, out.size + 1, dtype=numpy.uint64)
        draw(out)
        return out.tobytes().hex()
    start = time.perf_counter_ns()
    for _ in range(int(number)):
        draw(out)
    return time.perf_counter_ns() - start


version = ["NumPy", numpy.__version__]
if mkl_random is not None:
    version += ["mkl_random", mkl_random.__version__]
print(*version, flush=True)
for line in sys.stdin:
    print(answer(*line.split()), flush=True)
