import { nameOf, typeOf } from "./arrays.js";
import { Key } from "./key.js";
import { HEAD, PIECE, calls, room } from "./native.js";
import { count, shown } from "./numbers.js";

const WORDS = 0;
const DOUBLES = 1;
const JUMP = 2;
const LONG_JUMP = 3;
/** Numbers of one call. */
const TOGETHER = PIECE / 8;

export class Xoshiro256pp {
    #state;

    static of(key) {
        if (!(key instanceof Key)) {
            throw new TypeError(`a generator is made of a key, and not of ${shown(key)}`);
        }
        return Xoshiro256pp.ofState(new BigUint64Array(key.expand("xoshiro256pp", 32).buffer));
    }

    static ofState(state) {
        if (nameOf(state) !== "BigUint64Array") {
            throw new TypeError(`a state is a BigUint64Array of four words, and not ${shown(state)}`);
        }
        if (state.length !== 4 || state.every((word) => word === 0n)) {
            throw new RangeError("a state has four words, one of them not zero");
        }
        const generator = new Xoshiro256pp();
        generator.#state = BigUint64Array.from(state);
        return generator;
    }

    fill(out) {
        const type = typeOf(out);
        if (type !== "uint64" && type !== "float64") {
            throw new TypeError(`xoshiro256++ fills a BigUint64Array or a Float64Array, and not ${shown(out)}`);
        }
        for (let done = 0; done < out.length; done += TOGETHER) {
            const n = Math.min(TOGETHER, out.length - done);
            const { words } = this.#call(type === "uint64" ? WORDS : DOUBLES, n, n);
            const made = words.slice(HEAD, HEAD + n);
            out.set(type === "uint64" ? made : new Float64Array(made.buffer), done);
        }
        return out;
    }

    /** Skips 2^128 words. */
    jump() {
        this.#call(JUMP, 1, 0);
    }

    /** Skips 2^192 words. */
    longJump() {
        this.#call(LONG_JUMP, 1, 0);
    }

    /** Returns the generator after so many jumps. */
    stream(index) {
        const there = Xoshiro256pp.ofState(this.#state);
        there.#call(JUMP, Number(count(index, "index", 0xffff_ffffn)), 0);
        return there;
    }

    get state() {
        return this.#state.slice();
    }

    #call(action, n, results) {
        const view = room((HEAD + results) * 8);
        view.words.set(this.#state);
        if (this.#state === undefined || calls.xoshiro256pp(action, n) !== 0) {
            throw new TypeError("a generator is made by Xoshiro256pp.of(key) or ofState(words)");
        }
        this.#state = view.words.slice(0, 4);
        return view;
    }
}
