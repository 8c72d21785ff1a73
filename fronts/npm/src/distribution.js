// Distributions: a kind of the table with its parameters, checked and written down once.

import { refused } from "./exceptions.js";
import { HEAD, calls, room } from "./native.js";
import { count, real, reals, shown, whole } from "./numbers.js";
import { FACTORIES } from "./table.js";

/** Numbers whose integers have two words, because either 64-bit type has some that the other lacks. */
const INT = 1n << 64n;

export class Distribution {
    #words;

    constructor(token, kind, words, dimension) {
        if (token !== PRIVATE) {
            throw new TypeError("a distribution is made by its function, such as normal() or gamma(2.5)");
        }
        this.name = kind.js;
        this.dimension = dimension;
        this.#words = words;
        Object.defineProperty(this, "kind", { value: kind });
        // The second word of `low` is its sign.
        Object.defineProperty(this, "signed", { value: kind.name === "integers" && words[1] !== 0n });
        Object.freeze(this);
    }

    /** Returns the parameters as a draw takes them. */
    static words(distribution) {
        return distribution.#words;
    }
}

const PRIVATE = Symbol("private");

/** Makes the distribution that a function of the table returns. */
export function distribution(name, values) {
    let n = values.length;
    while (n > 0 && values[n - 1] === undefined) {
        n -= 1;
    }
    const kinds = FACTORIES[name];
    const kind = kinds.find((one) => n <= one.parameters.length) ?? kinds[kinds.length - 1];
    const { parameters } = kind;
    if (n > parameters.length) {
        const names = parameters.map((one) => one.js).join(", ") || "no parameters";
        throw new TypeError(`${name} takes ${names}, and not ${n} values`);
    }
    const pieces = parameters.map((parameter, i) => {
        const value = values[i] === undefined ? parameter.default : values[i];
        if (value === undefined) {
            throw new TypeError(`${name} needs ${parameter.js}`);
        }
        return piece(parameter, value);
    });
    const given = joined(pieces);
    const list = parameters.findIndex((one) => one.form === "table" || one.form === "matrix");
    // A table of buckets has two words for a weight; the others are as long as their list.
    const table = list < 0 ? 0 : pieces[list].length * (kind.name === "categorical" ? 2 : 1);
    const end = HEAD + given.length;
    const { words } = room((end + table) * 8);
    words.set(given, HEAD);
    const result = calls.prepare(kind.number, given.length, table);
    if (result !== 0) {
        throw refused(result, kind, "");
    }
    const dimension = Number(words[0]);
    const made = list < 0 ? given
        : joined([given.subarray(0, given.length - pieces[list].length), words.slice(end, end + table)]);
    return new Distribution(PRIVATE, kind, made, dimension * (kind.complex ? 2 : 1));
}

/** Returns a parameter's value as words. */
function piece({ js, form }, value) {
    switch (form) {
        case "real":
            return bits(Float64Array.of(real(value, js)));
        case "count":
            return BigUint64Array.of(count(value, js));
        case "integer": {
            const n = whole(value, js);
            if (n < -(INT >> 1n) || n >= INT) {
                throw new RangeError(`${js} must be from -2^63 to 2^64 - 1, and is ${n}`);
            }
            return BigUint64Array.of(BigInt.asUintN(64, n), n < 0n ? INT - 1n : 0n);
        }
        case "flag":
            if (typeof value !== "boolean") {
                throw new TypeError(`${js} must be true or false, and is ${shown(value)}`);
            }
            return BigUint64Array.of(value ? 1n : 0n);
        case "matrix":
            return bits(reals(rows(value, js), js));
        default:
            return bits(reals(value, js));
    }
}

/** Returns the numbers of a square matrix, which may be an array of its rows. */
function rows(value, name) {
    if (!Array.isArray(value) || typeof value[0] !== "object") {
        return value;
    }
    return value.flatMap((row, i) => {
        const numbers = Array.from(reals(row, `${name}[${i}]`));
        if (numbers.length !== value.length) {
            throw new RangeError(`${name}[${i}] has ${numbers.length} numbers in a matrix of ${value.length} rows`);
        }
        return numbers;
    });
}

/** Returns doubles as their bits. The copy also protects them from later changes by the caller. */
function bits(doubles) {
    return new BigUint64Array(doubles.slice().buffer);
}

function joined(pieces) {
    const words = new BigUint64Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        words.set(piece, at);
        at += piece.length;
    }
    return words;
}
