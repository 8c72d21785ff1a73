// Typed arrays and the types of the table.

import { shown } from "./numbers.js";

/** The table's names of the types, by the classes that hold them. */
const TYPES = new Map([
    ["Float64Array", "float64"],
    ["Float32Array", "float32"],
    ["Int8Array", "int8"],
    ["Uint8Array", "uint8"],
    ["Uint8ClampedArray", "uint8"],
    ["Int16Array", "int16"],
    ["Uint16Array", "uint16"],
    ["Int32Array", "int32"],
    ["Uint32Array", "uint32"],
    ["BigInt64Array", "int64"],
    ["BigUint64Array", "uint64"],
    ["Float16Array", "float16"],
].filter(([name]) => name in globalThis));
/** The class of each type; a type has one more where two classes hold it. */
const ARRAYS = new Map([...TYPES].reverse().map(([name, type]) => [type, globalThis[name]]));
const COMPLEX = { float64: "complex128", float32: "complex64" };

const TAG = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const BYTE_LENGTH = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;

/**
 * Returns the name of a typed array's class, and `undefined` for any other value.
 *
 * It is the language's own name, so an array of a class that extends one, such as Node's Buffer, has
 * it as well. `instanceof` would not know an array of another realm, such as a frame of the page or
 * the context of a test under Jest, because each realm has classes of its own.
 */
export function nameOf(value) {
    return TAG.call(value);
}

/** Returns true for an ArrayBuffer, of any realm. */
export function isBuffer(value) {
    try {
        BYTE_LENGTH.call(value);
        return true;
    } catch {
        return false;
    }
}

/** Returns the type of an array, under the table's name. */
export function typeOf(out) {
    const type = TYPES.get(nameOf(out));
    if (type === undefined) {
        throw new TypeError(`numbers go to a typed array, such as a Float64Array, and not to ${shown(out)}`);
    }
    return type;
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
    return [...TYPES].filter(([, type]) => way(kind, type, false) !== undefined).map(([name]) => name).join(", ");
}

/** Returns whole numbers of 64 bits in an array like `out`, which may be too narrow for them. */
export function converted(wide, out) {
    // Of our own class: a Buffer's constructor warns, and that of a user may take other arguments.
    const narrow = new (ARRAYS.get(typeOf(out)))(wide.length);
    const isBig = narrow instanceof BigInt64Array || narrow instanceof BigUint64Array;
    wide.forEach((value, i) => {
        narrow[i] = isBig ? value : Number(value);
        // A Float16Array has an infinity for what is too large, which no BigInt is.
        if (narrow[i] === Infinity || narrow[i] === -Infinity || BigInt(narrow[i]) !== value) {
            throw new RangeError(`element ${i} is ${value}, which ${nameOf(out)} cannot hold; a BigInt64Array can`);
        }
    });
    return narrow;
}
