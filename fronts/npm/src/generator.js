import { uniform } from "./factories.js";
import { MOST, count, shown } from "./numbers.js";

/** Doubles that are made at a time: a call costs as much as a hundred of them. */
const TOGETHER = 1024;
const DOUBLES = uniform();

export class Generator {
    #stream;
    #at;

    constructor(stream, start) {
        this.#stream = stream;
        const room = new Float64Array(TOGETHER);
        let doubles = room.subarray(0, 0);
        let used = 0;
        let next = start;
        const refilled = () => {
            // Fewer before the last element, and one behind it, which is the error that it has to be.
            const left = MOST - next;
            const n = left > TOGETHER ? TOGETHER : Math.max(1, Number(left));
            doubles = stream.fill(DOUBLES, room.subarray(0, n), next);
            next += BigInt(n);
            used = 1;
            return doubles[0];
        };
        // A function of its own, so that it can stand wherever Math.random does: a method would lose
        // its generator there.
        this.random = () => (used < doubles.length ? doubles[used++] : refilled());
        this.#at = (place) => {
            if (place !== undefined) {
                next = place;
                used = doubles.length;
            }
            return next - BigInt(doubles.length - used);
        };
        Object.freeze(this);
    }

    integer(low, high) {
        for (const [name, value] of [["low", low], ["high", high]]) {
            if (typeof value !== "number") {
                throw new TypeError(`${name} must be a number, and is ${shown(value)}`);
            }
        }
        const width = high - low + 1;
        if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || !(width >= 1 && width <= 2 ** 32)) {
            throw new RangeError(`a range of 1 to 2^32 whole numbers is needed, and not ${low} to ${high}`);
        }
        return low + Math.floor(this.random() * width);
    }

    choice(array) {
        if (!(array?.length > 0)) {
            throw new RangeError("there is no element to choose");
        }
        return array[this.integer(0, array.length - 1)];
    }

    get stream() {
        return this.#stream;
    }

    get position() {
        return this.#at();
    }

    set position(position) {
        this.#at(count(position, "position"));
    }
}
