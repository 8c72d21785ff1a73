/** A whole number: a Number up to 2^53 - 1, or a BigInt. */
export type Count = number | bigint;

/** Whole numbers, each a {@link Count} from 0. A BigUint64Array is the quickest. */
export type Indices = ArrayLike<number> | ArrayLike<bigint> | ArrayLike<Count>;

/** A seed or label: a whole number of any size, a text or bytes, of which `7` and `"7"` differ. */
export type Seed = number | bigint | string | Uint8Array | Uint8ClampedArray | DataView | ArrayBuffer;

/**
 * The engine of a key: another engine makes other numbers of the same seed. `"ars7"`, the default,
 * needs the CPU's AES instructions, which WebAssembly lacks, so `"philox4x32"` is five times as
 * fast here.
 */
export type Engine = "ars7" | "ars5" | "philox4x32";

/** Arrays of real numbers. */
export type Reals = Float64Array | Float32Array;

/** Arrays of whole numbers. A number that the array cannot hold exactly is a RangeError. */
export type Counts =
    | Float64Array
    | Float32Array
    | Int8Array
    | Uint8Array
    | Uint8ClampedArray
    | Int16Array
    | Uint16Array
    | Int32Array
    | Uint32Array
    | BigInt64Array
    | BigUint64Array;

/** Arrays of a stream's bits. */
export type Words =
    | Int8Array
    | Uint8Array
    | Uint8ClampedArray
    | Int32Array
    | Uint32Array
    | BigInt64Array
    | BigUint64Array;

/**
 * Numbers that a stream can draw. `A` are the arrays that hold them, and `D` is the array that
 * {@link Stream.array} makes. Made by the functions of this module, such as `gamma(2.5)`.
 */
export class Distribution<A, D = Float64Array> {
    private constructor();
    /** The name of its function. */
    readonly name: string;
    /** The numbers of an element: 1, the components of a vector, or 2 for a complex number. */
    readonly dimension: number;
    /** Holds nothing, and lets the compiler tell distributions of other arrays apart. */
    protected readonly arrays?: (array: A) => D;
}

/**
 * The key of 2^48 reproducible streams. **Not for secrets.** A value: it depends on its seed and
 * its labels alone, and Rust, C, Python and Java make the same one.
 */
export class Key {
    private constructor();

    /** The names of the engines, the default first. */
    static readonly engines: Engine[];

    /**
     * Returns the key of a seed.
     *
     * @throws TypeError if the seed has no whole value, RangeError if it is not a safe integer
     */
    static of(seed: Seed, options?: { engine?: Engine }): Key;

    /** Returns the key made of 16 bytes as they are, with no hash between: a stored key. */
    static raw(bytes: Uint8Array, options?: { engine?: Engine }): Key;

    /** Returns the key that {@link Key.toString} wrote. */
    static parse(text: string): Key;

    /** Returns the key of a part of a program that needs numbers of its own. */
    child(label: Seed): Key;

    /** Returns the children labelled 0 to n - 1. */
    children(n: Count): Key[];

    /** Returns bytes that seed another generator, named by its label. */
    expand(label: Seed, n: Count): Uint8Array;

    /** Returns a stream by its number, 0 to 2^48 - 1. No two of a key's streams share a block. */
    stream(id?: Count): Stream;

    readonly engine: Engine;
    /** A copy of the 16 bytes. */
    readonly bytes: Uint8Array;

    equals(other: unknown): boolean;
    /** Returns the engine and the bytes in hexadecimal digits. */
    toString(): string;
    toJSON(): string;
}

/**
 * A function from an element's number to its value. **Not for secrets.** It has no position: any
 * part of an array can be filled in any order, on any machine. All distributions are views of the
 * same bytes, so two arrays that must be independent need two streams.
 *
 * Elements are numbered up to 2^64 - 2. If a call throws, it has written nothing.
 */
export class Stream {
    private constructor();

    /** Returns stream 0 of a child, for an array that must be independent of this one's. */
    child(label: Seed): Stream;

    /**
     * Fills an array with elements `start` and following, and returns it. Vectors follow each other.
     *
     * @throws TypeError if the array is of a type that the distribution lacks, RangeError if
     *     elements do not exist, do not fit the array's type or are no whole vectors
     */
    fill<A, T extends A>(distribution: Distribution<A, unknown>, out: T, start?: Count): T;

    /** Returns elements `start` and following in a new array. */
    array<D>(distribution: Distribution<never, D>, n: Count, start?: Count): D;

    /** Returns the elements with these numbers, in their order. */
    at<D>(distribution: Distribution<never, D>, indices: Indices): D;
    at<A, T extends A>(distribution: Distribution<A, unknown>, indices: Indices, out: T): T;

    /** Brings an array into random order, the one that Python has for its length. */
    shuffle<T extends unknown[] | Counts>(array: T): T;

    /** Returns a generator that begins with the stream's element 0. */
    generator(): Generator;

    readonly key: Key;
    readonly id: number;
    equals(other: unknown): boolean;
    toString(): string;
    toJSON(): string;
}

/** A stream's uniform doubles, one after the other. **Not for secrets.** */
export class Generator {
    private constructor();

    /**
     * Returns the next element of `uniform()`: a number from 0 to below 1. A function by itself, so
     * it stands wherever `Math.random` does.
     */
    readonly random: () => number;

    /**
     * Returns a whole number from `low` to `high`, both included, of one double. Of a range of r
     * numbers, two differ in their chance by r / 2^53 of it at most.
     */
    integer(low: number, high: number): number;

    /** Returns an element of an array. */
    choice<T>(array: ArrayLike<T>): T;

    /** The number of the element that comes next. Save it, and set it to continue from there. */
    get position(): bigint;
    set position(position: Count);

    readonly stream: Stream;
}

/**
 * xoshiro256++ of Blackman and Vigna. **Not for secrets.** It has a state, and is quick; streams
 * are for arrays that any part of a program fills.
 */
export class Xoshiro256pp {
    private constructor();

    /** Returns the generator that Rust, Python and Java make of a key. */
    static of(key: Key): Xoshiro256pp;

    /** Returns the generator of four words, one of them not zero. */
    static ofState(state: BigUint64Array): Xoshiro256pp;

    /** Fills an array with the next words, or with doubles of their upper 53 bits. */
    fill<T extends BigUint64Array | Float64Array>(out: T): T;

    /** Skips 2^128 words. */
    jump(): void;
    /** Skips 2^192 words. */
    longJump(): void;
    /** Returns the generator after so many jumps, below 2^32: each has 2^128 words of its own. */
    stream(index: Count): Xoshiro256pp;

    /** A copy of the four words, which are also the position. */
    readonly state: BigUint64Array;
}

export * from "./src/factories.js";
