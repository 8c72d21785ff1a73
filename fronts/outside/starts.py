#!/usr/bin/env python3
"""Measures what headwater adds to the start of a program: time, and system calls.

    fronts/outside/starts.py RELEASE [--python PYTHON] [--jar JAR] [--rounds N]

RELEASE is target/release, with the command and the preload library. PYTHON has the package
installed. Each round starts every program once, in turn, so that a slow second of the machine
meets all of them; the time is the median of the rounds with the median of the differences from the
row above it that is the plain start. System calls are counted by strace -f, once.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

HELLO = 'public class Hello { public static void main(String[] a) { System.out.print(""); } }\n'


def programs(options, directory):
    """Yields (plain, name, command, environment): the plain start comes before its rows."""
    release = pathlib.Path(options.release).resolve()
    headwater = str(release / "headwater")
    preload = {"LD_PRELOAD": str(release / "libheadwater_preload.so")}
    yield None, "true", ["/bin/true"], {}
    yield "true", "the preload library alone", ["/bin/true"], preload
    yield "true", "headwater run -- true", [headwater, "run", "--", "/bin/true"], {}
    if options.python:
        python = [options.python, "-I", "-c"]
        yield None, "python3", [*python, "pass"], {}
        yield "python3", "import secrets, uuid", [*python, "import secrets, uuid"], {}
        yield "python3", "import headwater", [*python, "import headwater"], {}
        draw = "import headwater; headwater.token_bytes(16)"
        yield "python3", "import headwater, and a draw", [*python, draw], {}
    if options.jar:
        (directory / "Hello.java").write_text(HELLO)
        subprocess.run(["javac", "Hello.java"], cwd=directory, check=True)
        java = ["java", "-Xshare:auto", "-cp", str(directory)]
        yield None, "java Hello", [*java, "Hello"], {}
        agent = f"-javaagent:{pathlib.Path(options.jar).resolve()}"
        yield "java Hello", "java -javaagent:headwater.jar", [*java, agent, "Hello"], {}


def seconds(command, environment):
    began = time.perf_counter()
    subprocess.run(command, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def calls(command, environment, directory):
    trace = directory / "trace"
    strace = ["strace", "-f", "-qq", "-e", "signal=none", "-o", str(trace)]
    for name, value in environment.items():
        strace += ["-E", f"{name}={value}"]
    subprocess.run([*strace, *command], check=True, stdout=subprocess.DEVNULL)
    return sum(1 for line in trace.read_text(errors="replace").splitlines() if "resumed>" not in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release")
    parser.add_argument("--python")
    parser.add_argument("--jar")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        rows = list(programs(options, directory))
        times = {name: [] for _, name, _, _ in rows}
        for _ in range(options.rounds):
            for _, name, command, environment in rows:
                times[name].append(seconds(command, environment))
        print("| start | ms | more than the plain start, ms | system calls | more |")
        print("| --- | --- | --- | --- | --- |")
        counts = {}
        for plain, name, command, environment in rows:
            counts[name] = calls(command, environment, directory)
            middle = 1000 * statistics.median(times[name])
            if plain is None:
                print(f"| `{name}` | {middle:.1f} | | {counts[name]} | |")
                continue
            pairs = zip(times[name], times[plain])
            more = 1000 * statistics.median(a - b for a, b in pairs)
            print(f"| {name} | {middle:.1f} | {more:.1f} | {counts[name]} | {counts[name] - counts[plain]} |")


if __name__ == "__main__":
    main()
