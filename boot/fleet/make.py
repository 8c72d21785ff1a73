"""Makes the reports of an invented fleet out of the recorded hosts of the test suite.

Each host of the fleet has the report of one recorded host, with a name, a machine id, a boot and a
time of its own. Every seventh host is a clone of the template "golden" that kept machine id and SSH
host keys.

usage: make.py HEADWATER HOSTS COUNT OUT
    HOSTS   directory of host files
    OUT     a directory for one file a host, or a file that ends in .jsonl, or - for stdout
"""

import hashlib
import json
import pathlib
import subprocess
import sys

TIME = 1_795_400_000
CLONES = 7


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def bases(headwater, hosts):
    for host in sorted(pathlib.Path(hosts).glob("*/*.host")):
        command = [headwater, "doctor", "--json", "--root", str(host)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.stdout:
            report = json.loads(done.stdout)
            report["of"] = "this machine"
            for boot in report["boots"]:
                boot["units"] = boot["units"][:20]
            yield host.stem, report


def fleet(headwater, hosts, count):
    known = list(bases(headwater, hosts))
    for number in range(count):
        stem, report = known[number % len(known)]
        name = f"{stem}-{number:05}"
        clone = number % CLONES == 0
        machine = digest("machine", "golden" if clone else number)
        keys = [digest("key", "golden" if clone else number, kind) for kind in ("rsa", "ed25519")]
        yield name, report | {
            "time": TIME + number % 3600,
            "host": {
                "name": name,
                "machine_id": machine,
                "boot_id": digest("boot", number),
                "uptime_seconds": 86_400 + number,
            },
            "identity": {
                "salt": digest("salt"),
                "machine_id": machine,
                "ssh_host_keys": sorted(keys),
                "random_seed": digest("seed", number),
                "boot_id": digest("boot", number),
                "hardware": digest("hardware", number),
            },
        }


def main():
    headwater, hosts, count, out = sys.argv[1:]
    reports = fleet(headwater, hosts, int(count))
    if out == "-" or out.endswith(".jsonl"):
        file = sys.stdout if out == "-" else open(out, "w")
        cache = {}
        for name, report in reports:
            # The long part is the same for each host of a kind.
            key = name.rsplit("-", 1)[0]
            rest = {k: v for k, v in report.items() if k not in ("schema", "time", "host", "identity")}
            if key not in cache:
                cache[key] = json.dumps(rest)[1:]
            head = {k: report[k] for k in ("schema", "time", "host", "identity")}
            file.write(json.dumps(head)[:-1] + ", " + cache[key] + "\n")
        return
    directory = pathlib.Path(out)
    directory.mkdir(parents=True, exist_ok=True)
    for name, report in reports:
        (directory / f"{name}.json").write_text(json.dumps(report, indent=2))


main()
