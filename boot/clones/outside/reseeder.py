#!/usr/bin/env python3
"""A reseeder with a fault, to see that `headwater clones check` finds it.

    echo HEX | reseeder.py sound      adds the bytes, has the kernel take them
    echo HEX | reseeder.py write      writes them to /dev/urandom
    echo HEX | reseeder.py add        adds them, and asks for no reseed
    echo HEX | reseeder.py user       is not root, and reads no error
    echo HEX | reseeder.py device     opens another device, and reads no error
    echo HEX | reseeder.py short      adds four of them
    echo HEX | reseeder.py zero       adds zeros
    reseeder.py argument HEX          shows them to every user

Each prints that it reseeded. A reseeder that lets programs run first is `sleep 10` before it.
"""

import fcntl
import os
import struct
import sys

RNDADDENTROPY, RNDRESEEDCRNG = 0x40085203, 0x5207

fault = sys.argv[1]
entropy = bytes.fromhex(sys.argv[2] if fault == "argument" else sys.stdin.read())
if fault == "short":
    entropy = entropy[:4]
if fault == "zero":
    entropy = bytes(len(entropy))
if fault == "user":
    os.setuid(65534)
device = os.open("/dev/null" if fault == "device" else "/dev/urandom", os.O_RDWR)
try:
    if fault == "write":
        os.write(device, entropy)
    else:
        bits, length = 8 * len(entropy), len(entropy)
        fcntl.ioctl(device, RNDADDENTROPY, struct.pack("ii", bits, length) + entropy)
    if fault not in ("write", "add"):
        fcntl.ioctl(device, RNDRESEEDCRNG)
except OSError:
    pass  # an error that is not read
print("reseeded")
