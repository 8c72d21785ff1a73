"""STREAMS.md in plain Python, and its comparison with the files beside it.

Written from STREAMS.md (with FIPS 197 for AES and RFC 7693, which `hashlib` has), so it shows that the document is
complete. It needs no package. `python3 streams/vectors/streams.py` compares it with every case of every file, and exits with 1
if a value differs. `--write` writes the files that no other program writes. The specification itself is in `streams_spec`, a file for each part of the document.
"""

import json
import math
import struct
import sys
from pathlib import Path

# Tests load this file by its path, from other directories.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from streams_spec.distributions import *  # noqa: E402, F403
from streams_spec.engines import *  # noqa: E402, F403
from streams_spec.generators import *  # noqa: E402, F403
from streams_spec.half import *  # noqa: E402, F403
from streams_spec.numbers import *  # noqa: E402, F403
from streams_spec.rows import *  # noqa: E402, F403
from streams_spec.samplers import *  # noqa: E402, F403
from streams_spec.sobol import *  # noqa: E402, F403
from streams_spec.write import document  # noqa: E402

def bits(x, double):
    return struct.pack(">d" if double else ">f", x).hex()


def numbers(case):
    stream = Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"])
    kind, start, count = case["kind"], int(case["start"]), len(case["values"])
    n = int(case.get("n", case.get("bound", 0)))
    if kind == "shuffle":
        return [str(i) for i in stream.shuffled(n)]
    if kind in ("permutation", "sample"):
        return [str(i) for i in stream.permuted(n, start, count)]
    if kind.startswith("bounded"):
        return [str(stream.bounded(int(kind[-2:]), n, e)) for e in range(start, start + count)]
    element = getattr(stream, kind)
    return [bits(element(e), kind.endswith("64")) for e in range(start, start + count)]


def distributions(case):
    there = Half(Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"]))
    parameters = [struct.unpack(">d", bytes.fromhex(x))[0] for x in case["parameters"]]
    parameters = ([int(case["n"])] if "n" in case else []) + parameters
    start = int(case["start"])
    element = getattr(there, case["kind"], None)
    if element is None:
        sys.exit(f"streams_spec has no {case['kind']}: write it from STREAMS.md, as a method of Distributions")
    values = [element(e, *parameters) for e in range(start, start + case.get("vectors", len(case["values"])))]
    values = [number for vector in values for number in vector] if "vectors" in case else values
    if case["value"] == "u64":
        return [str(value) for value in values]
    if case["value"] == "u16":
        return [f"{value:04x}" for value in values]
    if case["value"] == "f64":
        return [bits(value, True) for value in values]
    return [bits(rounded_single(value), False) for value in values]


def rounded_single(x):
    """The nearest float of single precision, which may be infinite."""
    try:
        return single(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def check(name, case):
    """What the case says, and what this program computes."""
    if name == "engines":
        block = ENGINES[case["engine"]](int(case["key"], 16), int(case["counter"], 16))
        return case["block"], f"{block:032x}"
    if name == "keys":
        (kind, value), engine = next(iter(case["seed"].items())), case["engine"]
        seed = {"integer": int, "text": str, "bytes": bytes.fromhex}[kind](value)
        key = root_key(engine, seed)
        child = child_key(engine, key, seed)
        expanded = expand(engine, child, seed, 70)
        return [case["key"], case["child"], case["expanded"]], [key.hex(), child.hex(), expanded.hex()]
    if name == "streams":
        stream = Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"])
        return case["bytes"], stream.bytes(int(case["start"]), len(case["bytes"]) // 2).hex()
    if name == "numbers":
        return case["values"], numbers(case)
    if name in ("distributions", "samplers"):
        return case["values"], distributions(case)
    length = len(case["bytes"]) // 2
    if name == "seeds":
        substream = None if case["substream"] is None else int(case["substream"])
        data = command(case["generator"], typed(case["seed"]), substream, int(case["offset"]), length)
        return case["bytes"], data.hex()
    return case["bytes"], generator_case(case, length)


def generator_case(case, length):
    name = case["generator"]
    if "entropy" in case:
        entropy = case["entropy"]
        entropy = half_words(int(entropy)) if isinstance(entropy, (str, int)) else [int(x) for x in entropy]
        there = numpys(name, entropy, [int(x) for x in case["spawn_key"]])
        return joined([there], length).hex()
    data = bytes.fromhex(case["state"])
    state = [word(data, at) for at in range(0, len(data), 8)]
    base, _, exponent = case["skip"].partition("^")
    steps = int(base) ** int(exponent) if exponent else int(base)
    generator = Xorshift128p if name == "xorshift128p" else Xoshiro256pp
    lanes = []
    for lane in range(8 if name.endswith("8 lanes") else 1):
        there = generator(state)
        skip(there, steps + (lane << 128))
        lanes.append(there)
    return joined(lanes, length).hex()


def main():
    if sys.argv[1:] == ["--write"]:
        Path(__file__).with_name("samplers.json").write_text(document(distributions))
        return
    wrong = 0
    for name in "engines", "keys", "streams", "numbers", "distributions", "samplers", "generators", "seeds":
        cases = json.loads((Path(__file__).parent / f"{name}.json").read_text())["cases"]
        for case in cases:
            expected, computed = check(name, case)
            if expected != computed:
                wrong += 1
                print(f"{name}.json: {case}\n  computed {computed}")
        print(f"{name}.json: {len(cases)} cases")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
