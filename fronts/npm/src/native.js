// The compiled streams and the memory that they share with JavaScript.
//
// A call writes its arguments to that memory and finds its results after them, in the order that
// wasm/src/memory.rs describes. Nothing in it outlives a call, so there is nothing to free: the
// memory grows to the largest call and stays there.

import { WASM } from "./wasm.js";

// `instantiate` and not `new WebAssembly.Module`, which browsers refuse on a page's main thread.
const { instance } = await WebAssembly.instantiate(WASM);
const { memory, __heap_base: base } = instance.exports;
const start = Math.ceil(base.value / 8) * 8;
const PAGE = 1 << 16;

/** The functions of the library. */
export const calls = instance.exports;
/** Words in front of the arguments: the key, the stream's number and an element's. */
export const HEAD = 4;
/** Bytes of results that one call makes, unless a single vector is longer. */
export const PIECE = 1 << 16;

let view = { words: new BigUint64Array(memory.buffer, start), bytes: new Uint8Array(memory.buffer, start) };

/** Returns the shared memory with room for so many bytes. */
export function room(bytes) {
    const missing = start + bytes - memory.buffer.byteLength;
    if (missing > 0) {
        try {
            memory.grow(Math.ceil(missing / PAGE));
        } catch {
            throw new RangeError(`no memory for ${bytes} bytes; draw in smaller parts`);
        }
    }
    // A larger memory is another buffer, and the old views have no elements any more.
    if (view.bytes.buffer !== memory.buffer) {
        view = {
            words: new BigUint64Array(memory.buffer, start),
            bytes: new Uint8Array(memory.buffer, start),
        };
    }
    return view;
}

/** Returns the text that a refusal wrote to the words from `place` on. */
export function text(place) {
    const [address, length] = [view.words[place], view.words[place + 1]].map(Number);
    return new TextDecoder().decode(new Uint8Array(memory.buffer, address, length));
}
