// Arguments as JavaScript has them: Numbers where they are exact, BigInts where they may be larger.

/** The most that an unsigned number of 64 bits can be. */
export const MOST = (1n << 64n) - 1n;

/** Returns what a message calls a value. */
export function shown(value) {
    if (typeof value === "string") {
        return `the text ${JSON.stringify(value.slice(0, 40))}`;
    }
    if (typeof value === "bigint") {
        return `${value}n`;
    }
    if (typeof value === "object" && value !== null) {
        return `an object of class ${value.constructor?.name ?? "none"}`;
    }
    return typeof value === "symbol" || typeof value === "function" ? `a ${typeof value}` : `${value}`;
}

/** Returns a whole number as a BigInt. */
export function whole(value, name) {
    if (typeof value === "bigint") {
        return value;
    }
    if (typeof value !== "number") {
        throw new TypeError(`${name} must be a whole number, and is ${shown(value)}`);
    }
    if (!Number.isSafeInteger(value)) {
        const why = Number.isInteger(value) ? "; above 2^53 - 1 write a BigInt, such as 9007199254740993n" : "";
        throw new RangeError(`${name} must be a whole number, and is ${value}${why}`);
    }
    return BigInt(value);
}

/** Returns a whole number from 0 to `most` as a BigInt. */
export function count(value, name, most = MOST) {
    const n = whole(value, name);
    if (n < 0n || n > most) {
        throw new RangeError(`${name} must be from 0 to ${most}, and is ${n}`);
    }
    return n;
}

/** Returns a Number, which may be infinite. */
export function real(value, name) {
    if (typeof value !== "number") {
        throw new TypeError(`${name} must be a number, and is ${shown(value)}`);
    }
    return value;
}

/** Returns the length of a new array. */
export function length(value, name) {
    const n = whole(value, name);
    if (n < 0n || n > 0xffff_ffffn) {
        throw new RangeError(`${name} must be from 0 to 2^32 - 1, and is ${n}`);
    }
    return Number(n);
}

/**
 * Returns a list of whole numbers from 0 as words. Always a copy: elements may be written over the
 * list, and another thread may change a shared one after its numbers were checked.
 */
export function words(list, name) {
    if (list instanceof BigUint64Array) {
        return list.slice();
    }
    // A text has a length and parts, but no user means it for a list of numbers.
    if (list === null || typeof list !== "object" || typeof list.length !== "number") {
        throw new TypeError(`${name} must be an array of whole numbers, and is ${shown(list)}`);
    }
    return BigUint64Array.from(list, (value, i) => count(value, `${name}[${i}]`));
}

/** Returns a list of Numbers as doubles. */
export function reals(list, name) {
    if (list instanceof Float64Array) {
        return list;
    }
    if (list === null || typeof list !== "object" || typeof list.length !== "number") {
        throw new TypeError(`${name} must be an array of numbers, and is ${shown(list)}`);
    }
    return Float64Array.from(list, (value, i) => real(value, `${name}[${i}]`));
}
