"""Witness for Python: shows which of its random sources repeat in copies of a warm process.

Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process is
copied while it waits, and each copy draws for itself; whoever started it compares the copies.

HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.
"""

import email.utils
import multiprocessing
import os
import platform
import random
import secrets
import sys
import tempfile
import time
import uuid

WARM_UPS = 5
DRAWS = 8
POLL_S = 0.005

HOME = os.environ["HEADWATER_WITNESS_DIR"]
SCRATCH = os.path.join(HOME, "scratch")

SKIPPED = []


def skip(error, *ids):
    SKIPPED.extend((name, " ".join(str(error).split())) for name in ids)


# A minimal build may lack any of these three; the rest of the witness is worth having without them.
try:
    import ssl
except ImportError as error:
    ssl = None
    skip(error, "python/ssl.RAND_bytes")
try:
    import numpy
except ImportError as error:
    numpy = None
    skip(
        error,
        "python/numpy.random",
        "python/numpy.RandomState, kept",
        "python/numpy.default_rng, kept",
        "python/numpy.default_rng, new",
    )
try:
    import torch
except ImportError as error:
    torch = None
    skip(error, "python/torch.rand")


def shuffled():
    # 20 elements have 2**61 orders: two equal ones are a repeat and no accident.
    deck = list(range(20))
    random.shuffle(deck)
    return "-".join(map(str, deck))


def temp_name():
    # The file goes at once. Were it left, the next copy would meet the taken name, tempfile would
    # try again with another one, and the repeat would hide behind the retry.
    handle, path = tempfile.mkstemp(prefix="", dir=SCRATCH)
    os.close(handle)
    os.unlink(path)
    return os.path.basename(path)


def message_id():
    # <time.pid.random@domain>: only the third part is drawn, the first would always differ.
    return email.utils.make_msgid(domain="x").split(".")[2].split("@")[0]


def sources():
    """The sources in the order of drawing: those of the kernel first.

    When a whole machine is copied, the kernel's next outputs go to whoever asks first, and only
    the first ones are sure to be the same in each copy."""
    system = random.SystemRandom()
    kept = random.Random()
    yield "python/os.urandom", lambda: os.urandom(16).hex()
    if hasattr(os, "getrandom"):
        yield "python/os.getrandom", lambda: os.getrandom(16).hex()
    else:
        skip("not on this system", "python/os.getrandom")
    yield "python/SystemRandom", lambda: repr(system.random())
    yield "python/secrets.token_hex", lambda: secrets.token_hex(16)
    yield "python/secrets.randbelow", lambda: secrets.randbelow(1 << 64)
    yield "python/uuid4", lambda: uuid.uuid4().hex
    yield "python/Random, new", lambda: repr(random.Random().random())
    yield "python/random.random", lambda: repr(random.random())
    yield "python/random.getrandbits", lambda: random.getrandbits(64)
    yield "python/random.randrange", lambda: random.randrange(10**18)
    yield "python/random.choices", lambda: "".join(random.choices("0123456789abcdef", k=16))
    yield "python/random.shuffle", shuffled
    # gauss() makes two numbers at a time and keeps the second one: a state of its own.
    yield "python/random.gauss", lambda: repr(random.gauss(0.0, 1.0))
    yield "python/Random, kept", lambda: repr(kept.random())
    yield "python/tempfile-name", temp_name
    yield "python/email.make_msgid", message_id
    yield "python/uuid1", lambda: uuid.uuid1().hex
    if ssl is not None:
        yield "python/ssl.RAND_bytes", lambda: ssl.RAND_bytes(16).hex()
    if numpy is not None:
        generator = numpy.random.default_rng()
        old_style = numpy.random.RandomState()
        yield "python/numpy.default_rng, new", lambda: repr(
            float(numpy.random.default_rng().random())
        )
        yield "python/numpy.random", lambda: repr(float(numpy.random.random()))
        yield "python/numpy.default_rng, kept", lambda: repr(float(generator.random()))
        yield "python/numpy.RandomState, kept", lambda: repr(float(old_style.random_sample()))
    if torch is not None:
        # torch starts from a constant, so without this it repeats in any two processes.
        torch.seed()
        yield "python/torch.rand", lambda: repr(float(torch.rand((), dtype=torch.float64)))


def identities():
    """What is chosen once per process and kept for its whole life."""
    one = uuid.uuid1()
    yield "python/uuid1-clock-seq", one.clock_seq
    yield "python/uuid1-node", f"{one.node:012x}"
    yield "python/hash-seed", hash("headwater")
    yield "python/set-order", "-".join({f"element-{number}" for number in range(20)})
    yield "python/id-address", hex(id(HOME))
    yield "python/multiprocessing-authkey", multiprocessing.current_process().authkey.hex()


def in_place(name):
    return os.path.join(HOME, name)


def publish(name, lines):
    """Writes the file under another name first, so that nobody reads half of it."""
    with open(in_place(name + ".tmp"), "w", encoding="ascii", errors="replace") as file:
        file.writelines(line + "\n" for line in lines)
    os.rename(in_place(name + ".tmp"), in_place(name))


def main():
    # Not its parents: they are gone only if the planting was removed, and then it must stay so.
    os.mkdir(SCRATCH)
    drawn = list(sources())
    for _ in range(WARM_UPS):
        for _, draw in drawn:
            draw()
    list(identities())

    publish(
        "ready",
        [f"Python {platform.python_version()}"]
        + [f"skipped\t{name}\t{reason}" for name, reason in SKIPPED],
    )
    while not os.path.exists(in_place("go")):
        if not os.path.exists(in_place("ready")):
            return  # The planter gave up; nobody would ever say go.
        time.sleep(POLL_S)

    lines = []
    for _ in range(DRAWS):
        lines.extend(f"{name}\t{draw()}" for name, draw in drawn)
    lines.extend(f"{name}\t{value}" for name, value in identities())
    publish("draws", lines)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"python witness: {error!r}")
