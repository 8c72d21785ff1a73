"""STREAMS.md: notation, engines and keys."""

from hashlib import blake2s

W = 1 << 64
H = 1 << 32


def word(data, at=0):
    return int.from_bytes(data[at : at + 8], "little")


def rotl(x, k):
    return (x << k | x >> (64 - k)) % W


def doubled(x):
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def times(x, y):
    product = 0
    while y:
        if y & 1:
            product ^= x
        x, y = doubled(x), y >> 1
    return product


def s_box():
    """FIPS 197, 5.1.1: the inverse in GF(2^8), then an affine map."""
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if times(x, y) == 1), 0)
        bits = [inverse >> i & 1 for i in range(8)]
        mapped = [bits[i] ^ bits[(i + 4) % 8] ^ bits[(i + 5) % 8] ^ bits[(i + 6) % 8] ^ bits[(i + 7) % 8] for i in range(8)]
        box.append(sum(bit << i for i, bit in enumerate(mapped)) ^ 0x63)
    return box


S_BOX = s_box()
DOUBLE = [doubled(x) for x in range(256)]


def ars(rounds, key, counter):
    state = (key ^ counter).to_bytes(16, "little")
    low, high = key % W, key >> 64
    for number in range(1, rounds + 1):
        low, high = (low + 0x9E3779B97F4A7C15) % W, (high + 0xBB67AE8584CAA73B) % W
        # Byte i of the state is in row i mod 4 and column i div 4. ShiftRows moves row r by r columns to the left.
        state = bytes(S_BOX[state[i % 4 + 4 * ((i // 4 + i) % 4)]] for i in range(16))
        if number < rounds:
            mixed = []
            for c in range(0, 16, 4):
                a = state[c : c + 4]
                total = a[0] ^ a[1] ^ a[2] ^ a[3]
                mixed += [a[r] ^ total ^ DOUBLE[a[r] ^ a[(r + 1) % 4]] for r in range(4)]
            state = bytes(mixed)
        state = (int.from_bytes(state, "little") ^ (high << 64 | low)).to_bytes(16, "little")
    return int.from_bytes(state, "little")


def philox4x32(key, counter):
    counter ^= key >> 64 << 64
    c0, c1, c2, c3 = (counter >> (32 * i) & (H - 1) for i in range(4))
    k0, k1 = key % H, key >> 32 & (H - 1)
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q % H, p >> 32 ^ c3 ^ k1, p % H
        k0, k1 = (k0 + 0x9E3779B9) % H, (k1 + 0xBB67AE85) % H
    return c0 | c1 << 32 | c2 << 64 | c3 << 96


ENGINES = {"ars7": lambda k, c: ars(7, k, c), "ars5": lambda k, c: ars(5, k, c), "philox4x32": philox4x32}


# --- Keys ----------------------------------------------------------------------------------------


def encoded(seed):
    if isinstance(seed, int):
        n = seed if seed >= 0 else -1 - seed
        if n >= 1 << 128:
            return bytes([4 + (seed < 0)]) + n.to_bytes((n.bit_length() + 7) // 8, "little")
        return bytes([seed < 0]) + n.to_bytes(16, "little")
    return bytes([2]) + seed if isinstance(seed, bytes) else bytes([3]) + seed.encode()


def hashed(engine, purpose, *parts):
    head = b"hw-streams-v1".ljust(16, b"\0") + engine.encode().ljust(12, b"\0") + bytes([purpose])
    return blake2s(head + b"".join(parts)).digest()


def root_key(engine, seed):
    return hashed(engine, 0, encoded(seed))[:16]


def child_key(engine, key, label):
    return hashed(engine, 1, key, encoded(label))[:16]


def expand(engine, key, label, length):
    pieces = (hashed(engine, 2, key, i.to_bytes(8, "little"), encoded(label)) for i in range(-(-length // 32)))
    return b"".join(pieces)[:length]
