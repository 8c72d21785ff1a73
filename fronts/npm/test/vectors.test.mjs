// Run by `cargo xtask test --only "npm package"`, which sets HEADWATER_NPM and the vectors' place.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { check } from "./vectors.mjs";

const headwater = await import(pathToFileURL(`${process.env.HEADWATER_NPM}/index.js`));
const FILES = ["keys", "streams", "numbers", "distributions", "samplers", "generators", "seeds"];

test("every vector", () => {
    const read = (name) => JSON.parse(readFileSync(new URL(`../../../streams/vectors/${name}.json`, import.meta.url)));
    const { compared, differences } = check(headwater, Object.fromEntries(FILES.map((name) => [name, read(name)])));
    assert.deepEqual(differences, []);
    // A file that lost its cases, or a filter that lets none through, would compare nothing.
    assert.ok(compared > 5000, `${compared} comparisons`);
});
