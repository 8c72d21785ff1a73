// Speed beside Math.random and a generator that many programs copy:
// `node fronts/npm/bench/peers.mjs PACKAGE`. Prints nanoseconds of CPU time for a number, the best
// of several passes, because another program's load does not count there.

import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const headwater = await import(pathToFileURL(`${resolve(process.argv[2])}/index.js`));
const { Key, Xoshiro256pp, uniform, normal, gamma } = headwater;
const N = 1 << 16;
const PASSES = 40;
const out = new Float64Array(N);
const rows = [];

function measure(name, pass) {
    for (let i = 0; i < 10; i += 1) {
        pass();
    }
    let best = Infinity;
    for (let i = 0; i < PASSES; i += 1) {
        const before = process.cpuUsage();
        pass();
        const { user, system } = process.cpuUsage(before);
        best = Math.min(best, ((user + system) * 1000) / N);
    }
    rows.push({ name, best });
}
const loop = (random) => () => {
    for (let i = 0; i < N; i += 1) {
        out[i] = random();
    }
};
/** mulberry32 of Tommy Ettinger, which answers to "seeded random in JavaScript" hand out. */
function mulberry32(a) {
    return () => {
        a = (a + 0x6d2b79f5) | 0;
        let t = Math.imul(a ^ (a >>> 15), 1 | a);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}
/** Box and Muller's method, as programs write it. */
function boxMuller(random) {
    return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

measure("Math.random(), one by one", loop(Math.random));
measure("mulberry32 (32 bits), one by one", loop(mulberry32(42)));
measure("Box and Muller on Math.random(), one by one", loop(boxMuller(Math.random)));
const xoshiro = Xoshiro256pp.of(Key.of(42));
measure("xoshiro256++, an array", () => xoshiro.fill(out));
for (const engine of ["philox4x32", "ars7"]) {
    const stream = Key.of(42, { engine }).stream(0);
    const { random } = stream.generator();
    measure(`${engine}, generator().random(), one by one`, loop(random));
    measure(`${engine}, uniform(), an array`, () => stream.fill(uniform(), out));
    measure(`${engine}, normal(), an array`, () => stream.fill(normal(), out));
    measure(`${engine}, gamma(2.5), an array`, () => stream.fill(gamma(2.5), out));
}
const [{ best: base }] = rows;
console.log(`Node ${process.version}, ns of CPU time a number, and times Math.random()`);
for (const { name, best } of rows) {
    console.log(`${name.padEnd(48)}${best.toFixed(2).padStart(8)}${(best / base).toFixed(1).padStart(8)}`);
}
