// Typed arrays and the types of the table.

import { shown } from "./numbers.js";

const F16 = globalThis.Float16Array;
/** The table's names of the types, by the arrays that hold them. */
const TYPES = new Map([
    [Float64Array, "float64"],
    [Float32Array, "float32"],
    [Int8Array, "int8"],
    [Uint8Array, "uint8"],
    [Uint8ClampedArray, "uint8"],
    [Int16Array, "int16"],
    [Uint16Array, "uint16"],
    [Int32Array, "int32"],
    [Uint32Array, "uint32"],
    [BigInt64Array, "int64"],
    [BigUint64Array, "uint64"],
    ...(F16 === undefined ? [] : [[F16, "float16"]]),
]);
/** The array of each type; a type has one more where two arrays hold it. */
const ARRAYS = new Map([...TYPES].reverse().map(([array, type]) => [type, array]));
const COMPLEX = { float64: "complex128", float32: "complex64" };

/** Returns the type of an array, under the table's name. */
export function typeOf(out) {
    const type = TYPES.get(Object.getPrototypeOf(out ?? 0)?.constructor) ?? inherited(out);
    if (type === undefined) {
        throw new TypeError(`numbers go to a typed array, such as a Float64Array, and not to ${shown(out)}`);
    }
    return type;
}

/** Returns the type of an array of a class that extends a typed array, such as Node's Buffer. */
function inherited(out) {
    return [...TYPES].find(([array]) => out instanceof array)?.[1];
}

/**
 * Returns how an array gets elements of a kind: the type to draw, and whether it is converted.
 * `signed` chooses between the two wide types, which have the same numbers where both can.
 */
export function way(kind, type, signed) {
    if (kind.complex) {
        const complex = COMPLEX[type];
        return complex === undefined ? undefined : { type: complex, array: ARRAYS.get(type) };
    }
    if (kind.types.includes(type)) {
        return { type, array: ARRAYS.get(type) };
    }
    if (kind.name === "words") {
        // The same bits under a sign.
        const unsigned = { int8: "uint8", int32: "uint32", int64: "uint64" }[type];
        return unsigned === undefined ? undefined : { type: unsigned, array: ARRAYS.get(type) };
    }
    // Whole numbers of 64 bits go to any array that holds them exactly.
    const wide = signed ? "int64" : "uint64";
    return kind.types.includes(wide) ? { type: wide, array: ARRAYS.get(wide), converted: true } : undefined;
}

/** Returns the arrays that a kind has elements for, for a message. */
export function arraysOf(kind) {
    const names = [...TYPES].filter(([, type]) => way(kind, type, false) !== undefined).map(([array]) => array.name);
    return [...new Set(names)].join(", ");
}

/** Copies whole numbers of 64 bits to an array that may be too narrow for them. */
export function convert(from, to) {
    const isBig = to instanceof BigInt64Array || to instanceof BigUint64Array;
    for (let i = 0; i < from.length; i += 1) {
        to[i] = isBig ? from[i] : Number(from[i]);
        // A Float16Array has an infinity for what is too large, which no BigInt is.
        if (to[i] === Infinity || to[i] === -Infinity || BigInt(to[i]) !== from[i]) {
            throw new RangeError(
                `element ${i} is ${from[i]}, which ${to.constructor.name} cannot hold; a BigInt64Array can`,
            );
        }
    }
}
