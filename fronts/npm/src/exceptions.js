// The numbers of wasm/src/outcome.rs as exceptions.

import { text } from "./native.js";

const PARAMETER = 1;
const RANGE = 2;
const TYPE = 3;
const ROOM = 4;
const SHAPE = 5;

/** Returns the exception of a call that was refused. */
export function refused(number, kind, what) {
    switch (number) {
        case PARAMETER: {
            const [name, need] = [text(0), text(2)];
            const parameter = kind.parameters.find((one) => one.name === name);
            return new RangeError(`${parameter?.js ?? name} must be ${need}`);
        }
        case RANGE:
            return new RangeError(`${what} ends past the last element of ${kind.js}`);
        case TYPE:
            return new TypeError(`${kind.js} has no elements of this array's type`);
        case ROOM:
            return new RangeError(`${what} does not hold whole vectors of ${kind.js}`);
        case SHAPE:
            return new RangeError(`the parameters of ${kind.js} do not fit together`);
        default:
            return new Error(`headwater: ${kind.js} was refused (${number}), which is a bug`);
    }
}
