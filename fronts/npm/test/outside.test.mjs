// Uses of other people's: what a JavaScript program does with random numbers, and with bad input.
// Each row has its expectation first. Run by `cargo xtask test --only "npm package"`.

import assert from "node:assert/strict";
import test from "node:test";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { Worker } from "node:worker_threads";

const PACKAGE = pathToFileURL(`${process.env.HEADWATER_NPM}/index.js`);
const headwater = await import(PACKAGE);
const { Key, Stream, Distribution, Generator, Xoshiro256pp } = headwater;
const { words, uniform, normal, exponential, gamma, integers, poisson, permutation, complexNormal } = headwater;
const stream = Key.of(42).stream(0);
const wrong = (text) => ({ name: "TypeError", message: new RegExp(text) });
const outside = (text) => ({ name: "RangeError", message: new RegExp(text) });
/** A value of another realm, with classes of its own: a frame of a page, or a test under Jest. */
const foreign = (code) => vm.runInNewContext(code);
const mean = (array) => array.reduce((sum, x) => sum + x, 0) / array.length;
const same = (a, b) => assert.deepEqual(Array.from(a), Array.from(b));

/** The expectation, what is tried, and how. An object is the exception that must come. */
const USES = [
    // Seeds, as programs have them.
    ["the key of Python's Key(42)", "Key.of(42)", () => `${Key.of(42)}`, "ars7:02d10f8fda2a1d904602656d0a63511f"],
    ["the same key", "a BigInt", () => Key.of(42n).equals(Key.of(42)), true],
    ["another key", "a text of digits", () => Key.of("42").equals(Key.of(42)), false],
    ["the key of 0", "-0", () => Key.of(-0).equals(Key.of(0)), true],
    ["a key", "Date.now()", () => Key.of(1700000000000) instanceof Key, true],
    ["a key", "2^200", () => Key.of(2n ** 200n).equals(Key.of(2n ** 200n + 1n)), false],
    ["a key", "a negative number", () => Key.of(-1).equals(Key.of(-1n)), true],
    ["a key", "an empty text", () => Key.of("").equals(Key.of(new Uint8Array())), false],
    ["one key", "a Buffer and its Uint8Array", () => Key.of(Buffer.from("ab")).equals(Key.of(Uint8Array.of(97, 98))), true],
    ["one key", "a part of a buffer", () => Key.of(Uint8Array.of(1, 2, 3).subarray(1)).equals(Key.of(Uint8Array.of(2, 3))), true],
    ["RangeError", "Math.random() as a seed", () => Key.of(0.5), outside("seed must be a whole number, and is 0.5")],
    ["RangeError", "2^53", () => Key.of(2 ** 53), outside("above 2\\^53 - 1 write a BigInt")],
    ["RangeError", "NaN", () => Key.of(NaN), outside("whole number")],
    ["TypeError", "no seed", () => Key.of(), wrong("seed must be .*undefined")],
    ["TypeError", "null", () => Key.of(null), wrong("null")],
    ["TypeError", "true", () => Key.of(true), wrong("true")],
    ["TypeError", "a Date", () => Key.of(new Date()), wrong("class Date")],
    ["TypeError", "an array of numbers", () => Key.of([1, 2]), wrong("class Array")],
    ["TypeError", "words, whose byte order a machine chooses", () => Key.of(Uint32Array.of(1)), wrong("Uint32Array")],
    ["RangeError", "half of an emoji", () => Key.of("\ud83d"), outside("surrogate")],
    ["RangeError", "another engine", () => Key.of(1, { engine: "pcg" }), outside("ars7, ars5, philox4x32")],
    ["TypeError", "an engine without its name", () => Key.of(1, "philox4x32"), wrong("such as \\{ engine")],
    ["TypeError", "null for options", () => Key.of(1, null), wrong("not null")],
    ["TypeError", "an option with a capital", () => Key.raw(new Uint8Array(16), { Engine: "ars5" }), wrong("not Engine")],
    ["TypeError", "new Key()", () => new Key(), wrong("Key.of")],
    // Stored and sent.
    ["the same key", "JSON and back", () => Key.parse(JSON.parse(JSON.stringify(Key.of(7).child("a")))).equals(Key.of(7).child("a")), true],
    ["the same key", "raw bytes and back", () => Key.raw(Key.of(7).bytes).equals(Key.of(7)), true],
    ["RangeError", "a cut text", () => Key.parse("ars7:02"), outside("32 hexadecimal digits")],
    ["RangeError", "15 bytes", () => Key.raw(new Uint8Array(15)), outside("16 bytes")],
    ["no change", "writing to a key's bytes", () => { const key = Key.of(1); key.bytes.fill(0); return key.equals(Key.of(1)); }, true],
    ["4 keys", "children(4)", () => new Set(Key.of(1).children(4).map(String)).size, 4],
    ["RangeError", "stream 2^48", () => Key.of(1).stream(2 ** 48), outside("281474976710655")],
    ["RangeError", "stream -1", () => Key.of(1).stream(-1), outside("from 0")],
    ["the key's child", "a child of stream 0", () => stream.child("x").equals(Key.of(42).child("x").stream(0)), true],
    // Arrays.
    ["one array", "whole and in three parts", () => { const a = new Float64Array(9); stream.fill(normal(), a.subarray(0, 2)); stream.fill(normal(), a.subarray(2, 5), 2); stream.fill(normal(), a.subarray(5), 5n); return a.join(); }, stream.array(normal(), 9).join()],
    ["one array", "a million numbers, and the last of them", () => stream.array(uniform(), 1e6)[999_999], stream.at(uniform(), [999_999])[0]],
    ["a Float32Array", "fill returns its array", () => { const a = new Float32Array(4); return stream.fill(normal(), a) === a; }, true],
    ["numbers in [0, 1)", "100,000 floats", () => stream.fill(uniform(), new Float32Array(1e5)).every((x) => x >= 0 && x < 1), true],
    ["bytes", "a Node Buffer", () => stream.fill(words(), Buffer.alloc(4)).toString("hex"), "e35a1722"],
    ["bytes", "pixels of a canvas", () => stream.fill(words(), new Uint8ClampedArray(4)).join(), "227,90,23,34"],
    ["the same bits", "Int32Array for shaders", () => new Uint32Array(stream.fill(words(), new Int32Array(8)).buffer).join(), stream.fill(words(), new Uint32Array(8)).join()],
    ["nothing", "an empty array", () => stream.fill(normal(), new Float64Array(0)).length, 0],
    ["nothing", "no indices", () => stream.at(normal(), []).length, 0],
    ["an unaligned part", "a view at byte 4", () => stream.fill(uniform(), new Float32Array(new ArrayBuffer(12), 4, 2)).join(), stream.fill(uniform(), new Float32Array(2)).join()],
    ["shared memory", "a SharedArrayBuffer", () => stream.fill(normal(), new Float64Array(new SharedArrayBuffer(16))).join(), stream.array(normal(), 2).join()],
    ["TypeError", "a plain array", () => stream.fill(normal(), [0, 0]), wrong("typed array")],
    ["TypeError", "integers for normals", () => stream.fill(normal(), new Int32Array(2)), wrong("normal has no elements for a Int32Array, but for Float64Array")],
    ["TypeError", "a text for a distribution", () => stream.fill("normal", new Float64Array(2)), wrong("such as normal\\(\\)")],
    ["TypeError", "the function and not its result", () => stream.array(normal, 2), wrong("such as normal\\(\\)")],
    ["RangeError", "a negative length", () => stream.array(normal(), -1), outside("n must be")],
    ["RangeError", "past the end", () => stream.array(normal(), 2, 2n ** 64n - 2n), outside("past the last element")],
    ["the last word", "element 2^64 - 2", () => stream.array(words(), 1, 2n ** 64n - 2n).length, 1],
    ["RangeError", "a start of 2^64", () => stream.array(words(), 1, 2n ** 64n), outside("start must be")],
    ["nothing written", "a long range that ends past the last", () => { const a = new Float64Array(1e5); assert.throws(() => stream.fill(uniform(), a, 2n ** 64n - 1000n)); return a.every((x) => x === 0); }, true],
    ["nothing written", "a count too large for a byte", () => { const a = new Uint8Array(50); assert.throws(() => stream.fill(poisson(250), a), outside("cannot hold")); return a.every((x) => x === 0); }, true],
    ...(globalThis.Float16Array === undefined ? [] : [["RangeError", "a count too large for half a float", () => stream.fill(poisson(1e6), new Float16Array(2)), outside("Float16Array cannot hold")]]),
    ["TypeError", "a text of indices", () => stream.at(normal(), "12"), wrong("indices must be an array")],
    ["RangeError", "a negative index", () => stream.at(normal(), [-1]), outside("indices\\[0\\] must be from 0")],
    ["TypeError", "indices with a hole", () => stream.at(normal(), [1, , 2]), wrong("indices\\[1\\]")],
    ["RangeError", "an out of another length", () => stream.at(normal(), [1, 2], new Float64Array(3)), outside("2 indices for 3 elements")],
    ["the same numbers", "indices and elements that overlap in one buffer", () => { const list = BigUint64Array.from({ length: 20_001 }, (_, i) => BigInt(i % 997)); const apart = stream.at(words(), list.slice(0, -1)); same(stream.at(words(), list.subarray(0, -1), list.subarray(1)), apart); }, undefined],
    ["no warning", "counts to a Buffer, whose constructor warns", () => { const warned = []; const { emitWarning } = process; process.emitWarning = (text) => warned.push(text); try { stream.fill(poisson(3), Buffer.alloc(2)); } finally { process.emitWarning = emitWarning; } return warned.length; }, 0],
    ["counts", "a class whose constructor takes something else", () => { class Dice extends Int32Array { constructor(name) { super(name.length); } } return stream.fill(poisson(3), new Dice("ab")).join(); }, stream.fill(poisson(3), new Int32Array(2)).join()],
    // Other realms.
    ["numbers", "an array of another realm", () => same(stream.fill(normal(), foreign("new Float64Array(3)")), stream.array(normal(), 3)), undefined],
    ["counts", "an array of another realm", () => same(stream.fill(poisson(3), foreign("new Uint16Array(3)")), stream.array(poisson(3), 3)), undefined],
    ["one key", "bytes of another realm", () => Key.of(foreign("Uint8Array.of(1, 2)")).equals(Key.of(Uint8Array.of(1, 2))), true],
    ["one key", "a buffer of another realm", () => Key.of(foreign("Uint8Array.of(1, 2).buffer")).equals(Key.of(Uint8Array.of(1, 2))), true],
    ["one key", "a DataView of another realm", () => Key.of(foreign("new DataView(Uint8Array.of(1, 2).buffer)")).equals(Key.of(Uint8Array.of(1, 2))), true],
    ["TypeError", "words of another realm as a seed", () => Key.of(foreign("Uint32Array.of(1)")), wrong("Uint32Array")],
    ["the same key", "stored bytes of another realm", () => Key.raw(foreign("new Uint8Array(16)")).equals(Key.raw(new Uint8Array(16))), true],
    ["the same elements", "indices of another realm", () => same(stream.at(normal(), foreign("BigUint64Array.of(5n, 1n)")), stream.at(normal(), [5, 1])), undefined],
    ["the same words", "xoshiro's state of another realm", () => same(Xoshiro256pp.ofState(foreign("BigUint64Array.of(1n, 2n, 3n, 4n)")).state, [1n, 2n, 3n, 4n]), undefined],
    ["TypeError", "a shuffle of a DataView of another realm", () => stream.shuffle(foreign("new DataView(new ArrayBuffer(8))")), wrong("elements of an array")],
    // Distributions.
    ["dice", "integers(1, 6) as Numbers", () => stream.array(integers(1, 6), 600).every((x) => Number.isInteger(x) && x >= 1 && x <= 6), true],
    ["both ends", "integers(-1, 1)", () => new Set(stream.array(integers(-1, 1), 100)).size, 3],
    ["BigInts", "integers of 64 bits", () => stream.fill(integers(0, 2n ** 64n - 1n), new BigUint64Array(1))[0] > 2n ** 53n, true],
    ["RangeError", "large integers as Numbers", () => stream.array(integers(0, 2n ** 64n - 1n), 9), outside("BigInt64Array can")],
    ["RangeError", "an empty range", () => stream.array(integers(6, 1), 1), outside("do not fit together")],
    ["one distribution", "normal(100, 15) and normal()", () => Math.abs(mean(stream.array(normal(100, 15), 1e4)) - 100) < 1, true],
    ["RangeError", "a negative deviation", () => normal(0, -1), outside("deviation must be a finite number from 0")],
    ["RangeError", "Infinity", () => exponential(Infinity), outside("scale must be")],
    ["TypeError", "a text", () => gamma("2"), wrong("shape must be a number, and is the text")],
    ["TypeError", "no parameter", () => gamma(), wrong("gamma needs shape")],
    ["TypeError", "too many", () => gamma(1, 2, 3), wrong("gamma takes shape, scale")],
    ["RangeError", "no weights", () => headwater.categorical([]), outside("weights must be")],
    ["RangeError", "a matrix that is not square", () => headwater.multivariateNormal([0, 0], [[1, 0], [0]]), outside("covariance\\[1\\] has 1 numbers")],
    ["RangeError", "a matrix for another mean", () => headwater.multivariateNormal([0, 0, 0], [[1, 0], [0, 1]]), outside("do not fit together")],
    ["RangeError", "half a vector", () => stream.fill(headwater.sobol(3), new Float64Array(4)), outside("whole vectors of 3")],
    ["a complex number", "two doubles", () => stream.array(complexNormal(), 3).length, 6],
    ["no later change", "weights that the caller reuses", () => { const w = [1, 0]; const d = headwater.categorical(w); w[0] = 0; return stream.array(d, 50).every((x) => x === 0); }, true],
    ["a large table", "a million weights", () => { const d = headwater.categorical(new Float64Array(1e6).fill(1)); return stream.array(d, 1000).every((x) => x < 1e6); }, true],
    ["a frozen value", "writing to a distribution", () => Object.isFrozen(gamma(2)), true],
    // One after the other.
    ["elements of uniform()", "a generator", () => { const { random } = stream.generator(); return Array.from({ length: 1025 }, random).join(); }, stream.array(uniform(), 1025).join()],
    ["the same numbers", "save and restore", () => { const g = stream.generator(); for (let i = 0; i < 700; i += 1) g.random(); const saved = g.position; const next = g.random(); g.position = saved; return g.random() === next; }, true],
    ["seven hundred", "the position", () => { const g = stream.generator(); for (let i = 0; i < 700; i += 1) g.random(); return g.position; }, 700n],
    ["the last elements", "a generator that begins there", () => { const g = stream.generator(); g.position = 2n ** 64n - 3n; same([g.random(), g.random()], stream.array(uniform(), 2, 2n ** 64n - 3n)); return g.position; }, 2n ** 64n - 1n],
    ["RangeError", "the one after the last", () => { const g = stream.generator(); g.position = 2n ** 64n - 1n; g.random(); }, outside("a range of 1 from element 18446744073709551615")],
    ["a value of three", "choice", () => "abc".includes(stream.generator().choice(["a", "b", "c"])), true],
    ["RangeError", "choice of nothing", () => stream.generator().choice([]), outside("no element")],
    ["RangeError", "an empty range", () => stream.generator().integer(2, 1), outside("range of 1 to 2\\^32")],
    ["the same cards", "a shuffle", () => stream.shuffle(Array.from({ length: 52 }, (_, i) => i)).sort((a, b) => a - b).at(-1), 51],
    ["the array's own class", "a shuffle of floats", () => stream.shuffle(Float32Array.of(1, 2, 3)) instanceof Float32Array, true],
    ["TypeError", "a shuffle of a DataView", () => stream.shuffle(new DataView(new ArrayBuffer(8))), wrong("elements of an array, and not of an object of class DataView")],
    ["TypeError", "a shuffle of a text", () => stream.shuffle("abc"), wrong("elements of an array")],
    ["different numbers", "a sample without replacement", () => new Set(stream.array(permutation(1e12), 1000)).size, 1000],
    ["the same words", "xoshiro's state and back", () => { const g = Xoshiro256pp.of(Key.of(1)); g.fill(new Float64Array(10)); return same(Xoshiro256pp.ofState(g.state).fill(new BigUint64Array(3)), g.fill(new BigUint64Array(3))); }, undefined],
    ["RangeError", "xoshiro of zeros", () => Xoshiro256pp.ofState(new BigUint64Array(4)), outside("not zero")],
    ["TypeError", "xoshiro of a seed", () => Xoshiro256pp.of(42), wrong("made of a key")],
    ["TypeError", "new Stream()", () => new Stream(), wrong("key.stream")],
    ["TypeError", "new Distribution()", () => new Distribution(), wrong("such as normal")],
];

for (const [expectation, name, use, expected] of USES) {
    test(`${name}: ${expectation}`, () => {
        if (expected instanceof Object) {
            assert.throws(use, expected);
        } else {
            assert.deepEqual(use(), expected);
        }
    });
}

test("workers fill parts of one shared array", async () => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * 1000));
    const source = `
        import { workerData } from "node:worker_threads";
        const { Key, normal } = await import(workerData.headwater);
        const part = workerData.shared.subarray(workerData.from, workerData.from + 500);
        Key.parse(workerData.key).stream(0).fill(normal(), part, workerData.from);`;
    await Promise.all([0, 500].map((from) => new Promise((done, fail) => {
        const workerData = { headwater: PACKAGE.href, shared, from, key: `${stream.key}` };
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
        worker.on("exit", done).on("error", fail);
    })));
    same(shared, stream.array(normal(), 1000));
});

test("memory of a large call serves the next ones", () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 50; i += 1) {
        stream.at(normal(), BigUint64Array.from({ length: 1e5 }, (_, j) => BigInt(j)), new Float64Array(1e5));
        gamma(2 + i);
    }
    globalThis.gc?.();
    // 50 calls whose arguments stayed would hold 80 MB.
    assert.ok(process.memoryUsage().arrayBuffers - before < 60e6);
});

test("every function of the table makes a distribution or names what it needs", () => {
    const { Key: _, ...others } = headwater;
    const functions = Object.entries(others).filter(([name]) => /^[a-z]/.test(name));
    assert.ok(functions.length > 30);
    for (const [name, make] of functions) {
        let made;
        try {
            made = make();
        } catch (error) {
            assert.match(error.message, new RegExp(`^${name} needs `));
            continue;
        }
        assert.equal(made.name, name);
        assert.equal(stream.array(made, 2).length, 2 * made.dimension);
    }
    assert.ok(Generator instanceof Function);
});
