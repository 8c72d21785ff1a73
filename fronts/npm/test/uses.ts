// Compiled, and not run, by `cargo xtask test --only "npm package, types"`: what the declarations
// allow and refuse. A refusal that is none fails by its own comment.

import {
    Distribution, Generator, Key, Stream, Xoshiro256pp, categorical, complexNormal, exponential, gamma,
    integers, multivariateNormal, normal, permutation, poisson, sobol, uniform, words,
} from "headwater";

const key: Key = Key.of(42, { engine: "philox4x32" });
const stream: Stream = key.child("noise").child(7n).child(new Uint8Array(3)).stream(3);
const doubles: Float64Array = stream.array(normal(), 10);
const singles: Float32Array = stream.fill(normal(5, 2), new Float32Array(10), 100n);
const bits: BigUint64Array = stream.array(words(), 4);
const bytes: Uint8Array = stream.fill(words(), new Uint8Array(16));
const dice: Uint8Array = stream.fill(integers(1, 6), new Uint8Array(16));
const some: Float64Array = stream.at(gamma(2.5, 3), [1, 2n, 3]);
const into: Int32Array = stream.at(poisson(), new BigUint64Array(2), new Int32Array(2));
const cards: string[] = stream.shuffle(["a", "b"]);
const random: () => number = stream.generator().random;
const generator: Generator = stream.generator();
generator.position = 5;
const position: bigint = generator.position;
const chosen: string = generator.choice(["a", "b"]);
const state: BigUint64Array = Xoshiro256pp.of(key).state;
const vectors: Distribution<Float64Array> = multivariateNormal([0, 0], [[1, 0], [0, 1]]);
const others = [categorical([1, 2]), complexNormal(), exponential(), exponential(2), permutation(10n), sobol(3, false), uniform(1)];

// @ts-expect-error: a real number goes to no array of integers
stream.fill(normal(), new Int32Array(2));
// @ts-expect-error: doubles alone
stream.fill(exponential(), new Float32Array(2));
// @ts-expect-error: a shape is needed
gamma();
// @ts-expect-error: the function, and not its result
stream.array(normal, 2);
// @ts-expect-error: no such engine
Key.of(1, { engine: "pcg" });
// @ts-expect-error: a seed is no boolean
Key.of(true);
// @ts-expect-error: keys are made by functions
new Key();
// @ts-expect-error: a key's bytes are read
key.bytes = new Uint8Array(16);

export { bits, bytes, cards, chosen, dice, doubles, into, others, position, random, singles, some, state, vectors };
