"""Draws from os and uuid when told to, and times itself; child.rs says how it is asked."""

import os
import platform
import sys
import time
import uuid


def urandom(length, calls):
    for _ in range(calls):
        data = os.urandom(length)
    return data


def uuid4(_, calls):
    for _ in range(calls):
        data = str(uuid.uuid4())
    return data.encode()


FUNCTIONS = {"urandom": urandom, "uuid4": uuid4}


def answer(verb, function, length, number):
    draw = FUNCTIONS.get(function)
    if draw is None:
        return f"error this Python has no {function}"
    if verb == "sample":
        return draw(int(length), 1).hex()  # a new object each time, so that there is nothing to overwrite
    start = time.perf_counter_ns()
    draw(int(length), int(number))
    return time.perf_counter_ns() - start


print(platform.python_implementation(), platform.python_version(), flush=True)
for line in sys.stdin:
    print(answer(*line.split()), flush=True)
