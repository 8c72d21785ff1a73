import { arraysOf, converted, nameOf, typeOf, way } from "./arrays.js";
import { Distribution } from "./distribution.js";
import { refused } from "./exceptions.js";
import { Generator } from "./generator.js";
import { Key } from "./key.js";
import { HEAD, PIECE, calls, room } from "./native.js";
import { count, length, shown, words } from "./numbers.js";
import { DTYPES } from "./table.js";

export class Stream {
    #key;
    #id;

    constructor(key, id) {
        if (!(key instanceof Key) || typeof id !== "bigint") {
            throw new TypeError("a stream is made by key.stream(id)");
        }
        this.#key = key;
        this.#id = id;
    }

    get key() {
        return this.#key;
    }

    get id() {
        return Number(this.#id);
    }

    child(label) {
        if (this.#id === 0n) {
            return this.#key.child(label).stream(0);
        }
        // STREAMS.md: the children of another stream are those of a child that has its number.
        const own = new Uint8Array(14);
        own.set(new TextEncoder().encode("stream"));
        new DataView(own.buffer).setBigUint64(6, this.#id, true);
        return this.#key.child(own).child(label).stream(0);
    }

    fill(distribution, out, start = 0) {
        return this.#write(distribution, out, count(start, "start"), undefined);
    }

    array(distribution, n, start = 0) {
        return this.fill(distribution, fresh(distribution, length(n, "n")), start);
    }

    at(distribution, indices, out) {
        const numbers = words(indices, "indices");
        out ??= fresh(distribution, numbers.length);
        return this.#write(distribution, out, 0n, numbers);
    }

    shuffle(array) {
        if (!Array.isArray(array) && nameOf(array) === undefined) {
            throw new TypeError(`a shuffle moves the elements of an array, and not of ${shown(array)}`);
        }
        const view = room((HEAD + array.length) * 8);
        const engine = this.#place(view, 0n);
        const result = calls.shuffle(engine, array.length);
        if (result !== 0) {
            throw refused(result, { js: "shuffle" }, "");
        }
        const before = array.slice();
        const order = view.words.subarray(HEAD, HEAD + array.length);
        order.forEach((from, i) => {
            array[i] = before[Number(from)];
        });
        return array;
    }

    generator() {
        return new Generator(this, 0n);
    }

    equals(other) {
        return other instanceof Stream && this.#id === other.#id && this.#key.equals(other.#key);
    }

    toString() {
        return `${this.#key}/${this.#id}`;
    }

    toJSON() {
        return this.toString();
    }

    /** Writes what every call reads of a stream, and returns the number of the engine. */
    #place({ words: head, bytes }, start) {
        head[2] = this.#id;
        head[3] = start;
        return Key.place(this.#key, bytes);
    }

    #write(distribution, out, start, indices) {
        if (!(distribution instanceof Distribution)) {
            throw new TypeError(`the first argument is a distribution, such as normal(), and not ${shown(distribution)}`);
        }
        const { kind, dimension } = distribution;
        const how = way(kind, typeOf(out), distribution.signed);
        if (how === undefined) {
            throw new TypeError(`${kind.js} has no elements for a ${nameOf(out)}, but for ${arraysOf(kind)}`);
        }
        const elements = out.length / dimension;
        if (!Number.isInteger(elements)) {
            throw new RangeError(`an array of ${out.length} does not hold whole vectors of ${dimension}`);
        }
        if (indices !== undefined && indices.length !== elements) {
            throw new RangeError(`${indices.length} indices for ${elements} elements`);
        }
        if (elements === 0) {
            return out;
        }
        const wide = how.converted ? new how.array(out.length) : out;
        const draw = this.#drawing(distribution, how, wide);
        const step = Math.max(1, Math.floor(PIECE / (wide.BYTES_PER_ELEMENT * dimension)));
        if (elements > step) {
            // The last element, or the largest index: after this call none of the others can fail
            // with a part of the array already written.
            draw(indices === undefined ? { start: start + BigInt(elements - 1), n: 1 }
                : { indices: BigUint64Array.of(largest(indices)), n: 1 });
        }
        for (let done = 0; done < elements; done += step) {
            const n = Math.min(step, elements - done);
            draw(indices === undefined ? { start: start + BigInt(done), n, to: done }
                : { indices: indices.subarray(done, done + n), n, to: done });
        }
        if (how.converted) {
            out.set(converted(wide, out));
        }
        return out;
    }

    /** Returns the function that draws `n` elements and copies them to element `to`, if there is one. */
    #drawing(distribution, how, out) {
        const { kind, dimension } = distribution;
        const parameters = Distribution.words(distribution);
        const dtype = DTYPES.indexOf(how.type);
        const width = out.BYTES_PER_ELEMENT * dimension;
        const target = new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
        return ({ start = 0n, indices = [], n, to }) => {
            if (start > 0xffff_ffff_ffff_ffffn) {
                throw refused(2, kind, `element ${start}`);
            }
            const before = HEAD + parameters.length + indices.length;
            const view = room(before * 8 + n * width);
            view.words.set(parameters, HEAD);
            view.words.set(indices, HEAD + parameters.length);
            const engine = this.#place(view, start);
            const result = calls.draw(kind.number, dtype, engine, parameters.length, indices.length, n * width);
            if (result !== 0) {
                const what = indices.length === 0 ? `a range of ${n} from element ${start} on` : "a list of indices";
                throw refused(result, kind, what);
            }
            if (to !== undefined) {
                target.set(view.bytes.subarray(before * 8, before * 8 + n * width), to * width);
            }
        };
    }
}

/** Returns an array of the type that a kind has by itself: Numbers, unless they are words. */
function fresh(distribution, n) {
    if (!(distribution instanceof Distribution)) {
        throw new TypeError(`the first argument is a distribution, such as normal(), and not ${shown(distribution)}`);
    }
    const room = n * distribution.dimension;
    return distribution.kind.name === "words" ? new BigUint64Array(room) : new Float64Array(room);
}

function largest(indices) {
    return indices.reduce((most, one) => (one > most ? one : most));
}
