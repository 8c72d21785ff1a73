#!/usr/bin/env python3
"""Compares the data that `headwater quality` and PractRand need to reject a generator.

    cargo build --release -p headwater-cli
    cargo build --release -p headwater-quality --example generators
    python3 measure/outside/generators.py --practrand RNG_test [NAME...]

Both read the first bytes of the same stream, 1 MiB and then twice as many, up to 128 MiB or
`--largest`. `--expected FILE` has a line for each generator to be judged, written before: its name,
the size in MiB that is expected to fail, or "-", and the test. A figure is the smallest size that
ends in a failure: exit status 1, or "FAIL" in PractRand's result.
"""

import argparse
import json
import re
import subprocess
import sys

SIZES = [1 << power for power in range(20, 28)]  # shortened by --largest


def words(size):
    return "-" if size is None else f"{size >> 20} MiB"


def stream(program, name, size):
    """Starts a generator; `head` ends it."""
    return subprocess.Popen(
        f"'{program}' '{name}' | head -c {size}", shell=True, stdout=subprocess.PIPE
    )


def headwater(arguments, name):
    """Returns the size that fails and the test that fails first."""
    # Most generators fail at once or never, and a clean run is the longest.
    if found := headwater_at(arguments, name, SIZES[0]):
        return SIZES[0], found
    last = headwater_at(arguments, name, SIZES[-1])
    if not last:
        return None, ""
    for size in SIZES[1:-1]:
        if found := headwater_at(arguments, name, size):
            return size, found
    return SIZES[-1], last


def headwater_at(arguments, name, size):
    """Returns the first test that fails, if one does."""
    source = stream(arguments.generators, name, size)
    judge = [arguments.headwater, "quality", "-", "--standard", "--json"]
    run = subprocess.run(judge, stdin=source.stdout, capture_output=True, text=True)
    source.wait()
    if run.returncode not in (0, 1):
        sys.exit(f"{name}: {run.stderr}")
    return first_failure(run.stdout) if run.returncode == 1 else None


def first_failure(text):
    report = json.loads(text)
    found = []

    def walk(value):
        if isinstance(value, dict):
            if value.get("verdict") == "failed" and "test" in value:
                found.append(value["test"])
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)

    walk(report)
    return found[0] if found else "?"


def practrand(arguments, name, width):
    """Returns the size that fails and the test that fails first."""
    source = stream(arguments.generators, name, 2 * SIZES[-1])
    largest = f"{SIZES[-1] >> 20}MB"
    judge = [arguments.practrand, f"stdin{width}", "-tlmin", "1MB", "-tlmax", largest]
    run = subprocess.run([*judge, "-multithreaded"], stdin=source.stdout, capture_output=True, text=True)
    source.stdout.close()
    source.wait()
    size = None
    for line in run.stdout.splitlines():
        if found := re.search(r"length= .*\(2\^(\d+) bytes\)", line):
            size = 1 << int(found[1])
        if "FAIL" in line:
            return size, line.split()[0]
    return None, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--practrand", required=True)
    parser.add_argument("--headwater", default="target/release/headwater")
    parser.add_argument("--generators", default="target/release/examples/generators")
    parser.add_argument("--largest", type=int, default=128, help="MiB, a power of two")
    parser.add_argument("--expected")
    arguments = parser.parse_args()
    SIZES[:] = [size for size in SIZES if size >> 20 <= arguments.largest]
    expected = {}
    if arguments.expected:
        with open(arguments.expected) as lines:
            expected = {name: (size, test) for name, size, test in map(str.split, lines)}
    listed = subprocess.run([arguments.generators, "--list"], capture_output=True, text=True, check=True)
    widths = {line.split()[0]: line.split()[1] for line in listed.stdout.splitlines()}
    names = arguments.names or list(expected) or list(widths)
    before = f"{'expected':<26} " if expected else ""
    print(f"{'generator':<24} {before}{'headwater':>9}  {'PractRand':>9}  earlier    first failures")
    tally = {"headwater": 0, "PractRand": 0, "both": 0, "neither": 0}
    for name in names:
        ours, our_test = headwater(arguments, name)
        theirs, their_test = practrand(arguments, name, widths[name])
        if ours is None and theirs is None:
            earlier = "neither"
        elif ours == theirs:
            earlier = "both"
        else:
            earlier = "headwater" if (ours or 1 << 60) < (theirs or 1 << 60) else "PractRand"
        tally[earlier] += 1
        tests = f"{our_test or '-'}, {their_test or '-'}"
        size, test = expected.get(name, ("-", "-"))
        before = f"{'-' if size == '-' else f'{size} MiB, {test}':<26} " if expected else ""
        print(f"{name:<24} {before}{words(ours):>9}  {words(theirs):>9}  {earlier:<9}  {tests}", flush=True)
    print(", ".join(f"{who} {count}" for who, count in tally.items()))


if __name__ == "__main__":
    main()
