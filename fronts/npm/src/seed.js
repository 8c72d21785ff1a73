// Seeds and labels: numbers, texts and bytes, each written down in one way (STREAMS.md).

import { isBuffer, nameOf } from "./arrays.js";
import { shown, whole } from "./numbers.js";

const NATURAL = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;

/** Returns the form of a seed or label and its bytes. */
export function encoded(seed, name) {
    if (typeof seed === "number" || typeof seed === "bigint") {
        const n = whole(seed, name);
        // -1 - n is from 0 on for a negative n, and no two numbers share it.
        return n < 0n ? { form: NEGATIVE, bytes: digits(-1n - n) } : { form: NATURAL, bytes: digits(n) };
    }
    if (typeof seed === "string") {
        // The encoder would write U+FFFD for half of a pair, so two texts would be one seed.
        if (/\p{Surrogate}/u.test(seed)) {
            throw new RangeError(`${name} is a text with half of a surrogate pair, which UTF-8 lacks`);
        }
        return { form: TEXT, bytes: new TextEncoder().encode(seed) };
    }
    if (isBuffer(seed)) {
        return { form: BYTES, bytes: new Uint8Array(seed) };
    }
    // A view without a name is a DataView.
    if (ArrayBuffer.isView(seed) && ["Uint8Array", "Uint8ClampedArray", undefined].includes(nameOf(seed))) {
        return { form: BYTES, bytes: new Uint8Array(seed.buffer, seed.byteOffset, seed.byteLength) };
    }
    throw new TypeError(
        `${name} must be a whole number, a BigInt, a string or a Uint8Array, and is ${shown(seed)}`,
    );
}

/** Returns the bytes of a number, the lowest first. */
function digits(n) {
    const hex = n.toString(16);
    const pairs = hex.padStart(hex.length + (hex.length % 2), "0").match(/../g);
    return Uint8Array.from(pairs.reverse(), (pair) => parseInt(pair, 16));
}
