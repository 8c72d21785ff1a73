#!/usr/bin/env python3
"""Writes and verifies one file with headwater, fio, badblocks, shred and cmp, in turns.

    python3 streams/outside/storage.py target/release [DIRECTORY ...] [--rounds 5] [--size 2048]

Each directory is a place to measure: one in memory (/dev/shm) and one on a disk. Programs run on
one CPU in memory, and on all CPUs on a disk. The table shows the median rate and the CPU seconds a
GiB, user and kernel. nwipe needs a block device, so that it runs on a loop device over the file
(root only). A program that is not installed is skipped with one line.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import time


def run(command, cpus):
    """Returns wall, user and kernel seconds of one command."""
    begun = time.monotonic()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
    )
    words = child.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command}: {words}")
    return time.monotonic() - begun, usage.ru_utime, usage.ru_stime


def programs(binary, place, file, mib, one_cpu):
    """Yields name, passes over the data and command of each measurement."""
    size = f"{mib}M"
    direct = [] if one_cpu else ["--direct=1"]
    jobs = ["--ioengine=psync", "--bs=1M"] if one_cpu else ["--ioengine=io_uring", "--iodepth=8", "--bs=1M"]
    fio = ["fio", "--name=x", f"--filename={file}", f"--size={size}", "--end_fsync=1", *jobs, *direct,
           "--verify_state_save=0"]
    ours = [f"{binary}/headwater", "stream"]
    yield "headwater stream write", 1, [*ours, "write", "--yes", "--seed", "42", "--size", size, file]
    yield "headwater stream verify", 1, [*ours, "verify", "--seed", "42", file]
    if not one_cpu:
        # The same work by other ways to the disk: is one of them better than threads?
        for threads in ("1", "2", "8", "16"):
            options = ["--yes", "--threads", threads, "--size", size]
            yield f"headwater stream write, {threads} threads", 1, [
                *ours, "write", "--seed", "42", *options, file]
        # The device's own limit.
        dd = ["dd", "bs=4M", "status=none"]
        yield "dd, direct, zeros", 1, [
            *dd, "if=/dev/zero", f"of={file}", f"count={mib // 4}", "conv=notrunc,fdatasync", "oflag=direct"]
        yield "dd, direct, reads only", 1, [*dd, f"if={file}", "of=/dev/null", "iflag=direct"]
        yield "headwater stream write, again", 1, [
            *ours, "write", "--yes", "--seed", "42", "--size", size, file]
        yield "headwater stream verify, again", 1, [*ours, "verify", "--seed", "42", file]
        plain = ["fio", "--name=x", f"--filename={file}", "--end_fsync=1", "--bs=1M", "--rw=write", "--direct=1"]
        yield "fio write, io_uring, depth 8, no refill", 1, [
            *plain, f"--size={size}", "--ioengine=io_uring", "--iodepth=8"]
        part = f"{mib // 4}M"
        yield "fio write, 4 threads, no refill", 1, [
            *plain, f"--size={part}", "--ioengine=psync", "--numjobs=4", "--thread",
            f"--offset_increment={part}", "--group_reporting"]
    crc = ["--refill_buffers", "--verify=crc32c"]
    yield "fio write, refill, crc32c", 1, [*fio, "--rw=write", *crc, "--do_verify=0"]
    yield "fio verify, crc32c", 1, [*fio, "--rw=write", *crc, "--verify_only"]
    pattern = ["--verify=pattern", "--verify_pattern=%o"]
    yield "fio write, pattern of offsets", 1, [*fio, "--rw=write", *pattern, "--do_verify=0"]
    yield "fio verify, pattern of offsets", 1, [*fio, "--rw=write", *pattern, "--verify_only"]
    yield "shred -n 1", 1, ["shred", "-n", "1", file]
    yield "badblocks -w -t random, write and read", 2, [
        # The last block is counted as well.
            "badblocks", "-w", "-t", "random", "-b", "4096", "-c", "256", file, str(mib * 256 - 1)]
    copy = os.path.join(place, "headwater-copy")
    yield "cmp with a second copy", 1, ["cmp", file, copy]


def nwipe(device):
    # Without a terminal nwipe needs --nogui, and --autonuke asks nothing.
    options = ["--autonuke", "--nogui", "--nosignals", "--nowait", "--noblank", "--rounds=1", "--logfile=/dev/null"]
    return ["nwipe", *options, "--method=prng", "--verify=last", device]


def measure(args, place):
    one_cpu = place.startswith("/dev/shm")
    cpus = {0} if one_cpu else os.sched_getaffinity(0)
    file, copy = (os.path.join(place, name) for name in ("headwater-file", "headwater-copy"))
    results = {}
    # Full before the first program, so that none has to find room for it.
    with open(file, "wb") as made:
        for _ in range(args.size):
            made.write(bytes(1 << 20))
    try:
        for number in range(args.rounds):
            for name, passes, command in programs(args.binary, place, file, args.size, one_cpu):
                if not shutil.which(command[0]):
                    results.setdefault(name, None)
                    continue
                if command[0] == "cmp":
                    shutil.copyfile(file, copy)
                if not one_cpu:
                    subprocess.run(["sync"])
                    with open("/proc/sys/vm/drop_caches", "w") as caches:
                        caches.write("1")
                if results.setdefault(name, []) is not None:
                    results[name].append((passes, *run(command, cpus)))
                if command[0] == "cmp":
                    os.unlink(copy)
            # Once, because it is slow.
            if number == 0 and not args.no_nwipe and os.geteuid() == 0 and shutil.which("nwipe"):
                device = subprocess.run(["losetup", "--find", "--show", file], capture_output=True, text=True)
                device = device.stdout.strip()
                try:
                    passed = (2, *run(nwipe(device), cpus))
                    results.setdefault("nwipe prng on a loop device, write and read", []).append(passed)
                finally:
                    subprocess.run(["losetup", "--detach", device])
    finally:
        os.unlink(file)
    print(f"\n{place}: {args.size} MiB, {'one CPU' if one_cpu else f'{len(cpus)} CPUs, direct where the program can'}")
    print(f"{'program':46}{'GB/s':>7}{'user s/GiB':>12}{'kernel s/GiB':>14}")
    gib = args.size / 1024
    for name, rounds in results.items():
        if rounds is None:
            print(f"skipped: {name}: not installed")
            continue
        median = lambda of: statistics.median(of(*round) for round in rounds)
        rate = median(lambda passes, wall, user, kernel: passes * args.size * 1.048576e-3 / wall)
        user = median(lambda passes, wall, user, kernel: user / gib / passes)
        kernel = median(lambda passes, wall, user, kernel: kernel / gib / passes)
        print(f"{name:46}{rate:7.2f}{user:12.3f}{kernel:14.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=2048, help="MiB")
    parser.add_argument("--no-nwipe", action="store_true", help="nwipe takes minutes")
    parser.add_argument("places", nargs="*", default=["/dev/shm", "."])
    args = parser.parse_args()
    for place in args.places:
        measure(args, place)


main()
