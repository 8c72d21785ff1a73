#!/usr/bin/env python3
"""Compares arrays made on a graphics card with those of the Python package, bit for bit.

    fronts/outside/gpu.py GPU PHILOX [DEVICES.json]

GPU is the program of gpu.cu, and PHILOX that of fronts/c/tests/c/philox.c, compiled by nvcc -x cu.
The package is the one that this Python has. PyTorch, JAX, Triton and CuPy are compared where they
are installed and see a card. The exit status is 1 if anything differs. The last argument is where
words of the peers are written, as streams/vectors/devices.json has them.
"""

import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np

import headwater

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG = []
CASES = []


def report(what, equal, of, note=""):
    print(f"{'equal' if equal == of else 'DIFFERS'}: {what}: {equal:,} of {of:,}{note}", flush=True)
    if equal != of:
        WRONG.append(what)


def keep(by, raw, start, words):
    """Keeps a peer's words: the half words of stream 0 of the key `raw` from `start` on."""
    words = [int(word) for word in words]
    CASES.append({"by": by, "key": raw.hex(), "start": str(start), "values": words})


def cuda(program):
    words = subprocess.run([program, "words"], capture_output=True, text=True)
    *shown, verdict = words.stdout.splitlines() or [""]
    for line in shown:
        seed, subsequence, block, *numbers = map(int, line.split())
        raw = seed.to_bytes(8, "little") + subsequence.to_bytes(8, "little")
        keep("cuRAND, curand4", raw, 4 * block, numbers)
    print(verdict)
    if words.returncode:
        WRONG.append("cuRAND")


def cases():
    """Yields a line for philox.c and its values, of each case of the vectors that it can compute."""
    digits = lambda raw: raw[::-1].hex()  # noqa: E731
    for case in json.loads((ROOT / "streams/vectors/numbers.json").read_text())["cases"]:
        if case["engine"] != "philox4x32" or case["kind"] in ("shuffle", "sample"):
            continue
        key, bound = digits(bytes.fromhex(case["key"])), int(case.get("n", case.get("bound", "0")))
        if case["kind"] == "permutation" and bound <= 256:
            continue
        values = [int(v, 16 if case["kind"][-3] == "f" else 10) for v in case["values"]]
        line = f"{case['kind']} {key[:16]} {key[16:]} {case['stream']} {case['start']} {bound}"
        yield f"{line} {len(values)}", values
    for case in json.loads((ROOT / "streams/vectors/engines.json").read_text())["cases"]:
        if case["engine"] == "philox4x32":
            key, counter, block = case["key"], case["counter"], case["block"]
            line = f"block {key[:16]} {key[16:]} {int(counter[:16], 16)} {int(counter[16:], 16)} 0 2"
            yield line, [int(block[16:], 16), int(block[:16], 16)]


def vectors(program):
    lines, expected = zip(*cases(), strict=True)
    text = "".join(f"{line}\n" for line in lines)
    out = subprocess.run([program], input=text, text=True, capture_output=True, check=True).stdout
    values = [[int(v, 16) for v in line.split()] for line in out.splitlines()]
    report("vectors", sum(map(list.__eq__, values, expected)), len(lines), " cases")


def arrays(program):
    key = headwater.Key(42, engine="philox4x32")
    stream = key.stream(3)
    upper, lower = (f"{int.from_bytes(key.raw[at:][:8], 'little'):x}" for at in (8, 0))
    n = 1 << 22
    kinds = {
        "uniform_f32": lambda at: stream.random(n, dtype="float32", start=at),
        "uniform_f64": lambda at: stream.random(n, start=at),
        "normal_f32": lambda at: stream.standard_normal(n, dtype="float32", start=at),
        "normal_f64": lambda at: stream.standard_normal(n, start=at),
        "exponential_f64": lambda at: stream.standard_exponential(n, start=at),
    }
    for kind, on_cpu in kinds.items():
        for start in (0, 2**33 + 20):
            expected = np.asarray(on_cpu(start)).view("u4")
            for grid in ((1, 32), (132, 256), (7, 96), (2048, 1024)):
                line = [program, "fill", kind, upper, lower, "3", str(start), str(n), *map(str, grid)]
                made = np.frombuffer(subprocess.run(line, capture_output=True, check=True).stdout, "u4")
                same = int((made == expected).sum()) // (len(expected) // n)
                report(f"{kind} from {start}, {grid[0]} blocks of {grid[1]} threads", same, n)


def words_of(raw, n, dtype):
    return np.asarray(headwater.Key.from_raw(raw, engine="philox4x32").stream(0).integers(
        0, np.iinfo(dtype).max, n, dtype=dtype, endpoint=True))  # fmt: skip


def jax():
    import jax
    import jax.numpy as jnp

    device = jax.devices()[0]
    for a, b in ((5, 6), (0, 0), (2**32 - 1, 7)):
        key = jax.random.wrap_key_data(jnp.array([a, b, 0, 0], jnp.uint32), impl="rbg")
        half = a.to_bytes(4, "little") + b.to_bytes(4, "little")
        made = np.asarray(jax.random.bits(key, (100_000,), "uint32"))
        keep(f"JAX {jax.__version__}, rbg", half + half, 0, made[:8])
        same = int((made == words_of(half + half, len(made), "u4")).sum())
        report(f"JAX {jax.__version__} rbg of ({a}, {b}) on {device.device_kind}", same, len(made))


def torch():
    import torch

    for seed in (0, 42, 2**63 + 5):
        torch.manual_seed(seed)
        made = torch.rand(200, device="cuda").cpu().numpy()
        # One block of 256 threads: element i is the first number of subsequence i.
        first = [int(words_of(seed.to_bytes(8, "little") + i.to_bytes(8, "little"), 1, "u4")[0])
                 for i in range(200)]  # fmt: skip
        x = np.array(first, "u4").astype("f4") * np.float32(2**-32) + np.float32(2**-33)
        expected = np.where(x == 1, np.float32(0), x)
        report(f"PyTorch {torch.__version__} rand(200) of seed {seed}", int((made == expected).sum()), 200)
    stateless = getattr(torch.func, "_random", None)
    print("PyTorch's torch.func._random:", [name for name in dir(stateless) if name[0] != "_"])


def fronts():
    """Compares headwater.torch and headwater.jax on the card, and times them beside the peers' own."""
    import statistics
    import time

    import jax
    import torch

    import headwater.jax
    import headwater.torch

    key, n = headwater.Key(42, engine="philox4x32"), 1 << 22
    expected = np.asarray(key.stream(7).random(n, dtype="float32", start=2**33 + 1))
    given = {"stream": 7, "start": 2**33 + 1}
    made = headwater.torch.random(key, n, device="cuda", **given).cpu().numpy()
    report("headwater.torch.random", int((made == expected).sum()), n)
    sizes, starts = (1, 2, 5, 2047, 2049, 100_000), (0, 1, 2, 3, 2**33 + 1, 2**34 - 5, 2**63 + 3)
    keys = [key, headwater.Key.from_raw(bytes([1, *bytes(15)]), engine="philox4x32")]
    same = []
    for of, n, start, stream in itertools.product(keys, sizes, starts, (0, 1, 2**48 - 1)):
        draws = of.stream(stream)
        bits = np.asarray(draws.integers(0, 2**32, n, dtype="uint32", start=start))
        numbers = np.asarray(draws.random(n, dtype="float32", start=start))
        for step in (stream, torch.tensor(stream), torch.tensor(stream, device="cuda")):
            given = {"stream": step, "start": start, "device": "cuda"}
            same.append(np.array_equal(headwater.torch.bits(of, n, **given).cpu().numpy(), bits))
            made = headwater.torch.random(of, n, **given).cpu().numpy()
            same.append(np.array_equal(made, numbers))
    report("headwater.torch, tensors of many sizes", sum(same), len(same), " tensors")
    given, n = {"stream": 7, "start": 2**33 + 1}, 1 << 22
    for start in (5, 2**33 - 40, 2**33 + 1, 2**34 - 5, 2**63 + 7):
        compiled = torch.compile(
            lambda step, start=start: headwater.torch.random(
                key, 10_000, stream=step, start=start, device="cuda"
            )
        )
        made = compiled(torch.tensor(7, device="cuda")).cpu().numpy()
        of = np.asarray(key.stream(7).random(10_000, dtype="float32", start=start))
        report(f"the same by torch.compile from {start}", int((made == of).sum()), 10_000)
    made = np.asarray(headwater.jax.random(key, n, **given))
    report("headwater.jax.random", int((made == expected).sum()), n)

    n = 1 << 27
    by_jax = jax.jit(lambda step: headwater.jax.random(key, n, stream=step))
    by_torch = torch.compile(lambda step: headwater.torch.random(key, n, stream=step, device="cuda"))
    keys = {name: jax.random.key(42, impl=name) for name in ("threefry2x32", "rbg")}
    own = {name: jax.jit(lambda key: jax.random.uniform(key, n)) for name in keys}
    step = torch.tensor(7, device="cuda")
    ways = {
        "headwater.torch": lambda: (
            headwater.torch.random(key, n, stream=step, device="cuda") is None
            or torch.cuda.synchronize()
        ),
        "headwater.torch, compiled": lambda: by_torch(step) is None or torch.cuda.synchronize(),
        "torch.rand": lambda: torch.rand(n, device="cuda") is None or torch.cuda.synchronize(),
        "headwater.jax, compiled": lambda: by_jax(7).block_until_ready(),
        **{f"jax.random.uniform, {name}": lambda name=name: own[name](keys[name]).block_until_ready()
           for name in keys},
    }  # fmt: skip
    times = {name: [] for name in ways}
    for _ in range(12):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    for name, each in times.items():
        print(f"{name}: {n / statistics.median(each[2:]) / 1e9:.1f} G numbers/s")


def triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def four(out, seed, n: tl.constexpr):
        offsets = tl.arange(0, n)
        a, b, c, d = tl.randint4x(seed, offsets)
        tl.store(out + 4 * offsets, a)
        tl.store(out + 4 * offsets + 1, b)
        tl.store(out + 4 * offsets + 2, c)
        tl.store(out + 4 * offsets + 3, d)

    for seed in (0, 42, 2**40 + 3):
        out = torch.empty(4096, dtype=torch.int32, device="cuda")
        four[(1,)](out, seed, 1024)
        made = out.cpu().numpy().view("u4")
        keep(f"Triton {triton.__version__}, randint4x", seed.to_bytes(8, "little") + bytes(8), 0, made[:8])
        same = int((made == words_of(seed.to_bytes(8, "little") + bytes(8), 4096, "u4")).sum())
        report(f"Triton {triton.__version__} randint4x of seed {seed}", same, 4096)


def cupy():
    import cupy

    header = (ROOT / "fronts/c/include/headwater_philox.h").read_text()
    source = header + """
extern "C" __global__ void normals(headwater_philox_key key, double *out, uint64_t n) {
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = headwater_philox_normal_f64(key, 0, i);
}"""
    key = headwater.Key("cupy", engine="philox4x32")
    expected = np.asarray(key.stream(0).standard_normal(100_000))
    for options in ((), ("--use_fast_math",)):
        kernel = cupy.RawModule(code=source, options=options).get_function("normals")
        out = cupy.empty(100_000, "f8")
        words = np.frombuffer(key.raw, np.dtype("u8,u8"))[0]
        kernel((391,), (256,), (words, out, np.uint64(len(out))))
        same = int((cupy.asnumpy(out) == expected).sum())
        report(f"CuPy {cupy.__version__} RawModule {' '.join(options)}", same, len(expected))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    gpu, philox, *written = sys.argv[1:]
    vectors(philox)
    cuda(gpu)
    arrays(gpu)
    for peer in (jax, torch, triton, cupy, fronts):
        try:
            peer()
        except ImportError as error:
            print(f"skipped: {peer.__name__}: {error}, so that nothing here shows its words")
        except Exception as error:  # A peer's failure, such as a card that it does not know.
            WRONG.append(peer.__name__)
            print(f"FAILED: {peer.__name__}: {type(error).__name__}: {error}")
    about = (
        "values = the half words of stream 0 of the key with these bytes (philox4x32), from start on,"
        " as other libraries made them on an NVIDIA H100."
    )
    for name in written:
        head = {"schema": "headwater.vectors.devices/1", "spec": "hw-streams-v1", "about": about}
        head = "".join(f"  {json.dumps(field)}: {json.dumps(text)},\n" for field, text in head.items())
        lines = ",\n".join(f"    {json.dumps(case)}" for case in CASES)
        pathlib.Path(name).write_text(f'{{\n{head}  "cases": [\n{lines}\n  ]\n}}\n')
    sys.exit(f"differs: {', '.join(WRONG)}" if WRONG else 0)


main()
