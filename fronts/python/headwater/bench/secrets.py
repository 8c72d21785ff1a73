"""The rows of the secure half, against the standard library."""

from __future__ import annotations

from headwater.bench._measure import Row

#: Objects of one batch.
BATCH = 1000

SETUP = """
import os, random, secrets, uuid
import headwater
system_random = random.SystemRandom()
ours = headwater.SystemRandom()
buffer = bytearray(1 << 20)
os.urandom(1), headwater.uuid4()
"""


def rows() -> list[Row]:
    """Returns the rows: the call of the standard library, ours, and the target of the ratio."""

    def row(name: str, peer: str, ours: str, target: float, values: int = 1) -> Row:
        return Row(name, peer, ours, SETUP, target, values)

    return [
        row("token_bytes(16)", "secrets.token_bytes(16)", "headwater.token_bytes(16)", 9),
        row("token_hex(16)", "secrets.token_hex(16)", "headwater.token_hex(16)", 7),
        row("randbelow(1000)", "secrets.randbelow(1000)", "headwater.randbelow(1000)", 10),
        row("randbits(256)", "secrets.randbits(256)", "headwater.randbits(256)", 8),
        row("SystemRandom().random()", "system_random.random()", "ours.random()", 12),
        row("uuid4()", "uuid.uuid4()", "headwater.uuid4()", 8),
        row("uuid4_str()", "str(uuid.uuid4())", "headwater.uuid4_str()", 25),
        row(
            f"uuid4_batch({BATCH}), a UUID",
            f"[uuid.uuid4() for _ in range({BATCH})]",
            f"headwater.uuid4_batch({BATCH})",
            8,
            BATCH,
        ),
        row(
            f"uuid4_batch({BATCH}, as_str=True), a str",
            f"[str(uuid.uuid4()) for _ in range({BATCH})]",
            f"headwater.uuid4_batch({BATCH}, as_str=True)",
            40,
            BATCH,
        ),
        row("fill, 1 MiB", "os.urandom(1 << 20)", "headwater.fill(buffer)", 25),
    ]
