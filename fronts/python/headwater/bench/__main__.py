"""Prints the ratio of each row, and fails with --check if one misses its target."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys

from headwater.bench._measure import Result, Row, measure

#: The modules of the rows. Each has `rows()`, and raises ImportError if a peer is missing.
GROUPS = ("secrets", "streams", "distributions", "generator", "numpy", "dask")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m headwater.bench",
        description="Measures headwater against what a Python program would call instead.",
    )
    parser.add_argument("group", nargs="*", help=f"one of {', '.join(GROUPS)}; all if absent")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if a row misses its target"
    )
    options = parser.parse_args()
    for group in options.group:
        if group not in GROUPS:
            parser.error(f"unknown group {group!r}; the groups are {', '.join(GROUPS)}")

    results: list[Result] = []
    for group in options.group or GROUPS:
        try:
            rows: list[Row] = importlib.import_module(f"headwater.bench.{group}").rows()
        except ImportError as error:
            print(f"skipped: {group}: {error}", file=sys.stderr)
            continue
        for row in rows:
            results.append(measure(row))
            if not options.json:
                print_row(results[-1])
    if options.json:
        print(json.dumps(document(results), indent=2))
    missed = any(result.ratio < result.target for result in results)
    return 1 if options.check and missed else 0


def print_row(result: Result) -> None:
    mark = "" if result.ratio >= result.target else "  missed"
    print(
        f"{result.name:44} {result.peer_ns:12.1f} ns {result.ours_ns:12.1f} ns "
        f"{result.ratio:8.2f}x (target {result.target:g}x){mark}",
        flush=True,
    )


def document(results: list[Result]) -> dict[str, object]:
    return {
        "schema": "headwater.python-bench/1",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "rows": [result.as_dict() for result in results],
    }


if __name__ == "__main__":
    sys.exit(main())
