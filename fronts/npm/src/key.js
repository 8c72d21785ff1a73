import { nameOf } from "./arrays.js";
import { HEAD, calls, room } from "./native.js";
import { count, length, shown } from "./numbers.js";
import { encoded } from "./seed.js";
import { Stream } from "./stream.js";

const ROOT = 0;
const CHILD = 1;
const EXPAND = 2;
const ENGINES = ["ars7", "ars5", "philox4x32"];
const NO_KEY = new Uint8Array(16);

export class Key {
    #engine;
    #bytes;

    /** The names of the engines, the default first. */
    static get engines() {
        return [...ENGINES];
    }

    static of(seed, options) {
        const number = engineOf(options);
        return new Key(PRIVATE, number, derive(ROOT, number, NO_KEY, encoded(seed, "seed"), 16));
    }

    static raw(bytes, options) {
        const number = engineOf(options);
        if (nameOf(bytes) !== "Uint8Array") {
            throw new TypeError(`a key is a Uint8Array of 16 bytes, and not ${shown(bytes)}`);
        }
        if (bytes.length !== 16) {
            throw new RangeError(`a key has 16 bytes, and not ${bytes.length}`);
        }
        return new Key(PRIVATE, number, Uint8Array.from(bytes));
    }

    static parse(text) {
        const parts = typeof text === "string" ? /^([a-z0-9]+):([0-9a-f]{32})$/.exec(text) : null;
        if (parts === null || !ENGINES.includes(parts[1])) {
            throw new RangeError(`a stored key is an engine and 32 hexadecimal digits, and not ${shown(text)}`);
        }
        const bytes = Uint8Array.from(parts[2].match(/../g), (pair) => parseInt(pair, 16));
        return Key.raw(bytes, { engine: parts[1] });
    }

    constructor(token, engine, bytes) {
        if (token !== PRIVATE) {
            throw new TypeError("a key is made by Key.of(seed), Key.raw(bytes) or Key.parse(text)");
        }
        this.#engine = engine;
        this.#bytes = bytes;
    }

    child(label) {
        const bytes = derive(CHILD, this.#engine, this.#bytes, encoded(label, "label"), 16);
        return new Key(PRIVATE, this.#engine, bytes);
    }

    children(n) {
        return Array.from({ length: length(n, "n") }, (_, i) => this.child(i));
    }

    expand(label, n) {
        return derive(EXPAND, this.#engine, this.#bytes, encoded(label, "label"), length(n, "n"));
    }

    stream(id = 0) {
        return new Stream(this, count(id, "the number of a stream", (1n << 48n) - 1n));
    }

    get engine() {
        return ENGINES[this.#engine];
    }

    get bytes() {
        return this.#bytes.slice();
    }

    equals(other) {
        return other instanceof Key && this.toString() === other.toString();
    }

    toString() {
        return `${this.engine}:${Array.from(this.#bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    }

    /** Returns the text that `parse` reads. */
    toJSON() {
        return this.toString();
    }

    /** Writes the key where a call expects it, and returns the engine's number. */
    static place(key, bytes) {
        bytes.set(key.#bytes);
        return key.#engine;
    }
}

/** The word without which no key is made, so that none has other bytes than its class gave it. */
const PRIVATE = Symbol("private");

/** Returns the number of the engine that the options name. */
function engineOf(options = {}) {
    // Another word would be ignored in silence, and the key would be one of the default engine.
    if (typeof options !== "object" || options === null) {
        throw new TypeError(`options are an object such as { engine: "philox4x32" }, and not ${shown(options)}`);
    }
    const unknown = Object.keys(options).find((name) => name !== "engine");
    if (unknown !== undefined) {
        throw new TypeError(`the one option of a key is engine, and not ${unknown}`);
    }
    const { engine = ENGINES[0] } = options;
    const number = ENGINES.indexOf(engine);
    if (number < 0) {
        throw new RangeError(`an engine is one of ${ENGINES.join(", ")}, and not ${shown(engine)}`);
    }
    return number;
}

function derive(purpose, engine, key, label, out) {
    const end = HEAD * 8 + Math.ceil(label.bytes.length / 8) * 8;
    const { bytes } = room(end + out);
    bytes.set(key);
    bytes.set(label.bytes, HEAD * 8);
    if (calls.derive(purpose, engine, label.form, label.bytes.length, out) !== 0) {
        throw new Error("headwater: a key was refused, which is a bug");
    }
    return bytes.slice(end, end + out);
}
