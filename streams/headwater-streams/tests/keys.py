"""Keys as STREAMS.md derives them, for tests/oracles.rs."""
from hashlib import blake2s


def encoded(seed):
    if isinstance(seed, int):
        kind, n = (0, seed) if seed >= 0 else (1, -1 - seed)
        return bytes([kind]) + n.to_bytes(16, "little")
    return b"\2" + seed if isinstance(seed, bytes) else b"\3" + seed.encode()


def key(engine, purpose, *parts):
    return blake2s(b"".join([b"hw-streams-v1\0\0\0", engine.encode().ljust(12, b"\0"), bytes([purpose]), *parts])).digest()[:16]


for engine in "ars7", "ars5", "philox4x32":
    root = key(engine, 0, encoded(42))
    for n in range(300):
        for child in n, -1 - n, "x" * n:
            print(key(engine, 1, root, encoded(child)).hex())
        print(key(engine, 0, encoded(b"x" * n)).hex())
