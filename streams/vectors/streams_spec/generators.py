"""STREAMS.md: generators with a state."""

from .engines import H, W, expand, root_key, rotl, word


class Xoshiro256pp:
    width = 4

    def __init__(self, state):
        self.s = list(state)

    def next(self):
        s = self.s
        result = (rotl((s[0] + s[3]) % W, 23) + s[0]) % W
        t = s[1] << 17 & (W - 1)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result


class Xorshift128p:
    width = 2

    def __init__(self, state):
        self.s = list(state)

    def next(self):
        s0, s1 = self.s
        a = s0 ^ s0 << 23 & (W - 1)
        self.s = [s1, a ^ s1 ^ a >> 18 ^ s1 >> 5]
        return (self.s[0] + self.s[1]) % W


class Pcg64Dxsm:
    M = 0xDA942042E4DD58B5

    def __init__(self, state, increment):
        self.state, self.increment = state, increment

    def next(self):
        h, l = self.state >> 64, self.state % W | 1
        h ^= h >> 32
        h = h * self.M % W
        h ^= h >> 48
        self.state = (self.state * self.M + self.increment) % (1 << 128)
        return h * l % W

    def skip(self, n):
        """n steps at once, by squaring the map x -> m x + a."""
        m, a, total_m, total_a = self.M, self.increment, 1, 0
        while n:
            if n & 1:
                total_m, total_a = m * total_m % (1 << 128), (m * total_a + a) % (1 << 128)
            m, a, n = m * m % (1 << 128), (m * a + a) % (1 << 128), n >> 1
        self.state = (total_m * self.state + total_a) % (1 << 128)


class Sfc64:
    def __init__(self, a, b, c, n=1):
        self.s = [a, b, c, n]

    def next(self):
        a, b, c, n = self.s
        r = (a + b + n) % W
        self.s = [b ^ b >> 11, (c + (c << 3)) % W, (rotl(c, 24) + r) % W, (n + 1) % W]
        return r


def splitmix64(x, count):
    words = []
    for _ in range(count):
        x = (x + 0x9E3779B97F4A7C15) % W
        z = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % W
        z = (z ^ z >> 27) * 0x94D049BB133111EB % W
        words.append(z ^ z >> 31)
    return words


def columns(generator):
    """The step of a linear generator as a matrix over GF(2): its images of the unit vectors, as integers."""
    images = []
    for bit in range(64 * generator.width):
        there = generator([(1 << bit) >> 64 * i & (W - 1) for i in range(generator.width)])
        there.next()
        images.append(sum(x << 64 * i for i, x in enumerate(there.s)))
    return images


def image(matrix, vector):
    total = 0
    while vector:
        low = vector & -vector
        total ^= matrix[low.bit_length() - 1]
        vector ^= low
    return total


POWERS = {}


def power(generator, exponent):
    """The matrix of 2^exponent steps."""
    matrices = POWERS.setdefault(generator, [columns(generator)])
    while len(matrices) <= exponent:
        matrices.append([image(matrices[-1], column) for column in matrices[-1]])
    return matrices[exponent]


def skip(there, n):
    generator = type(there)
    vector = sum(x << 64 * i for i, x in enumerate(there.s))
    for exponent in range(n.bit_length()):
        if n >> exponent & 1:
            vector = image(power(generator, exponent), vector)
    there.s = [vector >> 64 * i & (W - 1) for i in range(generator.width)]


def seed_sequence(entropy, spawn_key, count):
    words = list(entropy)
    if spawn_key:
        words += [0] * (4 - len(words)) + list(spawn_key)
    c = 0x43B0D7E5

    def scrambled(v):
        nonlocal c
        v ^= c
        c = c * 0x931E8875 % H
        v = v * c % H
        return v ^ v >> 16

    def mix(x, y):
        r = (x * 0xCA01F9DD - y * 0x4973F715) % H
        return r ^ r >> 16

    pool = [scrambled(words[i] if i < len(words) else 0) for i in range(4)]
    for source in range(4):
        for target in range(4):
            if target != source:
                pool[target] = mix(pool[target], scrambled(pool[source]))
    for value in words[4:]:
        for target in range(4):
            pool[target] = mix(pool[target], scrambled(value))
    out, c = [], 0x8B51F9DD
    for i in range(2 * count):
        v = pool[i % 4] ^ c
        c = c * 0x58F38DED % H
        v = v * c % H
        out.append(v ^ v >> 16)
    return [low | high << 32 for low, high in zip(out[::2], out[1::2])]


def half_words(n):
    return [n >> 32 * i & (H - 1) for i in range(max(1, -(-n.bit_length() // 32)))]


def numpys(name, entropy, spawn_key):
    if name == "pcg64dxsm":
        w = seed_sequence(entropy, spawn_key, 4)
        initial, increment = w[0] << 64 | w[1], ((w[2] << 64 | w[3]) << 1 | 1) % (1 << 128)
        state = (increment + initial) * 0x2360ED051FC65DA44385DF649FCCF645 + increment
        return Pcg64Dxsm(state % (1 << 128), increment)
    there = Sfc64(*seed_sequence(entropy, spawn_key, 3))
    for _ in range(12):
        there.next()
    return there


def typed(text):
    """A seed as it is typed to the command."""
    for prefix, make in ("hex:", bytes.fromhex), ("text:", str):
        if text.startswith(prefix):
            return make(text[len(prefix) :])
    return int(text, 0) if text[0] in "0123456789-" else text


def command(name, seed, substream, offset, length):
    """Bytes of `headwater stream --engine name` for a generator with a state."""
    if name in ("pcg64dxsm", "sfc64"):
        there = numpys(name, half_words(seed), [] if substream is None else [substream])
        there.skip(offset // 8) if offset >= 8 else None
        lanes = [there]
    else:
        generator = Xorshift128p if name == "xorshift128p" else Xoshiro256pp
        label, jump = ("xorshift128p", 64) if name == "xorshift128p" else ("xoshiro256pp", 128)
        state = expand("ars7", root_key("ars7", seed), label, 8 * generator.width)
        words = [word(state, 8 * i) for i in range(generator.width)]
        many = 8 if name.endswith("-x8") else 1
        lanes = []
        for lane in range(many):
            there = generator(words if any(words) else splitmix64(0, generator.width))
            skip(there, ((substream or 0) * many + lane) << jump)
            skip(there, offset // 8 // many + (lane < offset // 8 % many))
            lanes.append(there)
        first = offset // 8 % many
        lanes = lanes[first:] + lanes[:first]
    return joined(lanes, offset % 8 + length)[offset % 8 :]


def joined(lanes, length):
    """Bytes of several generators, a word of each in turn."""
    words = (lanes[i % len(lanes)].next() for i in range(-(-length // 8)))
    return b"".join(w.to_bytes(8, "little") for w in words)[:length]
