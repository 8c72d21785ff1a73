"""Boots guests of the lab with and without the observer, and judges the observer's records.

Each boot prints one line of JSON. The last line is the summary: victims that were missed, the
largest error of a duration, and the times to readiness with and without the observer.

usage: series.py HEADWATER GUEST BOOTS KERNEL [words for `headwater lab boot`]

With `--append hw.tracepoints=0` the observer looks into /proc only.
"""

import json
import statistics
import subprocess
import sys

# The observer looks every 0.1 s. A shorter wait can begin and end between two looks.
SHORTEST_S = 0.25
# OpenSSL reads its configuration for tenths of a second, in an emulator, before it asks the kernel.
# The guest counts this time, and the observer rightly does not.
WORKS_FIRST = {"openssl"}
# Words of the guest's command line that start the observer; the number is its limit in seconds.
OBSERVE = "hw.observe=600"


def boot(headwater, guest, kernel, words, observe):
    words = list(words)
    if observe:
        if "--append" in words:
            at = words.index("--append") + 1
            words[at] += " " + OBSERVE
        else:
            words += ["--append", OBSERVE]
    command = [headwater, "lab", "boot", "--json", "--kernel", kernel, "--guest", guest, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def judge(report):
    """Compares the record with the times that the guest's processes measured themselves."""
    record = report["doctor"]["report"]["observed"]
    victims = {victim["process"]: victim for victim in record["victims"]}
    known, missed, errors, found = set(), [], [], []
    for caller in report["callers"]:
        until = caller["to_s"] if caller["to_s"] is not None else caller["until_s"]
        if record["ready"] is not None:
            # A process runs a little later than the generator is ready: it waits for a CPU.
            until = min(until, record["ready"])
        waited = until - caller["from_s"]
        known.add(caller["name"])
        if waited < SHORTEST_S:
            continue
        victim = victims.get(caller["name"])
        if victim is None:
            missed.append(caller["name"])
            continue
        bounds = victim["seconds"]
        middle = (bounds["at_least"] + bounds["at_most"]) / 2
        if caller["name"] not in WORKS_FIRST:
            errors.append(round(middle - waited, 3))
            found.append([caller["name"], round(waited, 3), bounds["at_least"], bounds["at_most"]])
    strangers = sorted(set(victims) - known)
    return {
        "missed": missed,
        "strangers": strangers,
        "errors_s": errors,
        "victims": found,
        "ready_by": record["ready_by"],
        "outcome": record["outcome"],
        "method": record["method"],
        "no_tracepoints": record["no_tracepoints"],
        "looks": record["looks"],
        "observed_s": round(record["ended"] - record["began"], 3),
        "cpu_s": round(record["cpu_seconds"], 3),
    }


def main():
    headwater, guest, boots, kernel, *words = sys.argv[1:]
    waits = {True: [], False: []}
    judged = []
    for number in range(2 * int(boots)):
        # In turn, so that a change of the host's load meets both alike.
        observe = number % 2 == 0
        report = boot(headwater, guest, kernel, words, observe)
        line = {"boot": number, "observer": observe, "ready_s": report["ready_s"]}
        line["init_s"] = report["init_s"]
        line["blocked_s"] = report["blocked_s"]
        if report["ready_s"] is not None:
            # The observer is given a second to start, so the wait counts from the first request.
            waits[observe].append(report["ready_s"] - report["callers"][0]["from_s"])
        if observe and report["doctor"]["report"].get("observed"):
            line |= judge(report)
            judged.append(line)
        print(json.dumps(line), flush=True)
    errors = [error for line in judged for error in line["errors_s"]]
    victims = [victim for line in judged for victim in line["victims"]]
    # The guest's clock and the observer's have steps of 4 ms with the clock "jiffies".
    outside = [it for it in victims if not it[2] - 0.02 <= it[1] <= it[3] + 0.02]
    # The doctor prints one figure only for bounds as close as this.
    stated = [abs((it[2] + it[3]) / 2 - it[1]) for it in victims if it[3] - it[2] <= 0.25]

    def summary(times):
        if not times:
            return None
        return {
            "boots": len(times),
            "median_s": round(statistics.median(times), 3),
            "least_s": round(min(times), 3),
            "most_s": round(max(times), 3),
        }

    print(json.dumps({
        "kernel": report["kernel"],
        "words": words,
        "methods": sorted({line["method"] for line in judged}),
        "beyond_0.2_s": sum(abs(error) > 0.2 for error in errors),
        "victims": len(errors),
        "missed": sum(len(line["missed"]) for line in judged),
        "strangers": sum(len(line["strangers"]) for line in judged),
        "outside_the_bounds": len(outside),
        "stated_as_one_figure": len(stated),
        "largest_error_of_one_figure_s": round(max(stated, default=0), 3),
        "largest_error_s": max(map(abs, errors), default=None),
        "ready_after_first_request_with_observer": summary(waits[True]),
        "ready_after_first_request_without": summary(waits[False]),
        "cpu_s_per_s": round(
            sum(line["cpu_s"] for line in judged)
            / max(sum(line["observed_s"] for line in judged), 0.001), 4),
    }))


main()
