// The vectors of every implementation, compared bit by bit. Runs in Node and in a browser: `files`
// maps a name in streams/vectors to its content.

/** Reads a value of a file: the bits of a float, or a whole number. */
const READERS = {
    f64: (digits) => BigInt(`0x${digits}`),
    f32: (digits) => Number(`0x${digits}`),
    u16: (digits) => Number(`0x${digits}`),
    u64: BigInt,
    u32: Number,
};
/** The arrays that a value is drawn to, and those that show its bits. */
const ARRAYS = {
    f64: [Float64Array, BigUint64Array],
    f32: [Float32Array, Uint32Array],
    u64: [BigUint64Array, BigUint64Array],
    u32: [Uint32Array, Uint32Array],
};
const PLAIN = { bounded_u64: "u64", bounded_u32: "u32", permutation: "u64", sample: "u64" };

export function check(headwater, files) {
    let compared = 0;
    const differences = [];
    const equal = (name, found, expected) => {
        compared += 1;
        if (String(found) !== String(expected)) {
            differences.push(`${name}: ${found} and not ${expected}`.slice(0, 300));
        }
    };
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const bytesOf = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const doubles = (parameters) =>
        Array.from(new Float64Array(BigUint64Array.from(parameters, READERS.f64).buffer));
    const { Key, Xoshiro256pp } = headwater;

    for (const one of files.keys.cases) {
        const [[form, value]] = Object.entries(one.seed);
        const seed = { integer: () => BigInt(value), text: () => value, bytes: () => bytesOf(value) }[form]();
        const key = Key.of(seed, { engine: one.engine });
        equal("key", hex(key.bytes), one.key);
        equal("child", hex(key.child(seed).bytes), one.child);
        equal("expanded", hex(key.child(seed).expand(seed, 70)), one.expanded);
    }
    const streamOf = (one) => {
        const key = Key.of(BigInt(one.seed), { engine: one.engine });
        equal("key of the stream", hex(key.bytes), one.key);
        return key.stream(one.stream);
    };
    for (const one of files.streams.cases) {
        const bytes = streamOf(one).fill(headwater.words(), new Uint8Array(one.bytes.length / 2), BigInt(one.start));
        equal("words", hex(bytes), one.bytes);
    }
    for (const one of [...files.numbers.cases, ...files.distributions.cases, ...files.samplers.cases]) {
        const made = distribution(headwater, one, doubles);
        if (made === undefined) {
            continue; // floats of 16 bits, where this JavaScript has no array for them
        }
        const { kind, type, order } = made;
        const stream = streamOf(one);
        const expected = one.values.map(READERS[type]);
        if (order) {
            equal(one.kind, stream.shuffle(Array.from(expected, (_, i) => i)), expected);
            continue;
        }
        const [array, bits] = type === "u16" ? [globalThis.Float16Array, Uint16Array] : ARRAYS[type];
        const out = stream.fill(kind, new array(expected.length), BigInt(one.start));
        const name = `${one.kind} ${type} ${one.parameters ?? one.bound ?? one.n ?? ""} from ${one.start}`;
        equal(name, new bits(out.buffer), expected);
        // The same elements one by one, and the array in two parts.
        const n = expected.length / kind.dimension;
        const indices = Array.from({ length: n }, (_, i) => BigInt(one.start) + BigInt(n - 1 - i));
        const found = Array.from(new bits(stream.at(kind, indices, new array(expected.length)).buffer));
        const reversed = indices.flatMap((_, i) => expected.slice((n - 1 - i) * kind.dimension).slice(0, kind.dimension));
        equal(`${name}, at`, found, reversed);
        const half = Math.floor(n / 2) * kind.dimension;
        const parts = new array(expected.length);
        stream.fill(kind, parts.subarray(half), BigInt(one.start) + BigInt(half / kind.dimension));
        stream.fill(kind, parts.subarray(0, half), BigInt(one.start));
        equal(`${name}, in parts`, new bits(parts.buffer), expected);
        if (type === "u64" && expected.every((value) => value < 2n ** 53n)) {
            equal(`${name}, as Numbers`, stream.array(kind, n, BigInt(one.start)), expected);
        }
    }
    for (const one of files.generators.cases.filter((one) => one.generator === "xoshiro256pp")) {
        const words = new BigUint64Array(bytesOf(one.state).buffer);
        const generator = Xoshiro256pp.ofState(words);
        if (one.skip === "2^128") {
            generator.jump();
        } else if (one.skip === "2^192") {
            generator.longJump();
        } else if (one.skip !== "0") {
            continue; // Rust alone skips other numbers of words
        }
        const out = generator.fill(new BigUint64Array(one.bytes.length / 16));
        equal(`xoshiro256++ after ${one.skip}`, hex(new Uint8Array(out.buffer)), one.bytes);
    }
    for (const one of files.seeds.cases) {
        if (one.generator !== "xoshiro256pp" || one.offset !== "0" || !/^-?[0-9]+$/.test(one.seed)) {
            continue;
        }
        const base = Xoshiro256pp.of(Key.of(BigInt(one.seed)));
        const generator = one.substream === null ? base : base.stream(BigInt(one.substream));
        const bytes = new Uint8Array(generator.fill(new BigUint64Array(Math.ceil(one.bytes.length / 16))).buffer);
        equal(`xoshiro256++ of ${one.seed}/${one.substream}`, hex(bytes).slice(0, one.bytes.length), one.bytes);
    }
    return { compared, differences };
}

/** Returns the kind of a case, with the type of its values. */
function distribution(headwater, one, doubles) {
    const { kind } = one;
    if (kind === "shuffle") {
        return { type: "u32", order: true };
    }
    const parameters = doubles(one.parameters ?? []);
    const n = one.n === undefined ? [] : [BigInt(one.n)];
    const type = one.value ?? PLAIN[kind] ?? /[a-z]+[0-9]+$/.exec(kind)[0];
    if (type === "u16") {
        const isThere = globalThis.Float16Array !== undefined && !kind.includes("bf16");
        return isThere ? { kind: kind === "f16" ? headwater.uniform() : headwater.normal(), type } : undefined;
    }
    const name = kind.replace(/_[fu](64|32)$/, "");
    switch (name) {
        case "f64":
        case "f32":
            return { kind: headwater.uniform(), type };
        case "bounded":
            return { kind: headwater.integers(0, BigInt(one.bound) - 1n), type };
        case "permutation":
        case "sample":
            return { kind: headwater.permutation(...n), type };
        case "categorical":
        case "dirichlet":
            return { kind: headwater[name](parameters), type };
        case "multinomial":
            return { kind: headwater.multinomial(...n, parameters), type };
        case "multivariate_normal": {
            const rows = [...parameters.keys()].find((d) => d * d + d === parameters.length);
            const [mean, matrix] = [parameters.slice(0, rows), parameters.slice(rows)];
            return { kind: headwater.multivariateNormal(mean, matrix), type };
        }
        case "multivariate_hypergeometric":
            return { kind: headwater.multivariateHypergeometric(parameters, ...n), type };
        case "hypergeometric":
            // The file has counts as doubles, like every parameter, and some are above 2^53.
            return { kind: headwater.hypergeometric(...[...parameters].map(BigInt)), type };
        case "sobol":
            return { kind: headwater.sobol(parameters[0], parameters[1] !== 0), type };
        default: {
            // The table's names in camel case, but for scaled kinds, which share a function.
            const plain = name.replace(/^scaled_/, "").replace("lognormal", "log_normal");
            const camel = plain.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
            return { kind: headwater[camel](...n, ...parameters), type };
        }
    }
}
