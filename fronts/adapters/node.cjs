// Renews Node's random numbers in a copied process or machine:
//
//     node --require /usr/share/headwater-clones/node.cjs program.js
//
// A process that was copied (CRIU, a cloned machine) continues V8's Math.random, OpenSSL's state
// and Node's batches of UUIDs and integers, in every copy alike. This file puts headwater under
// them. The functions of node:crypto keep nothing then; Math.random has a batch of numbers, which a
// draw throws away if this is a copy. docs/adapters.md says what stays out of reach.
"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const LIBRARY = "libheadwater_clones.so";

function library() {
  const given = process.env.HEADWATER_CLONES_LIBRARY;
  const beside = path.join(__dirname, LIBRARY);
  const places = given ? [given] : [
    beside, `/usr/local/lib/${LIBRARY}`, `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/${LIBRARY}`,
    `/usr/lib64/${LIBRARY}`, `/usr/lib/${LIBRARY}`,
  ];
  const found = places.find((place) => fs.existsSync(place));
  if (found === undefined) {
    throw new Error(`headwater: ${LIBRARY} is in none of ${places.join(", ")}; ` +
      "name its file by HEADWATER_CLONES_LIBRARY");
  }
  return found;
}

const addon = { exports: {} };
process.dlopen(addon, library());
const { fill, copies, machines } = addon.exports;
const word = new Uint8Array(addon.exports.word);
const count = new Uint32Array(addon.exports.count);

// --- Math.random ---------------------------------------------------------------------------------

const BATCH = 256;
const bytes = new Uint8Array(8 * BATCH);
const words = new Uint32Array(bytes.buffer);
const batch = new Float64Array(BATCH);
let left = 0;
let seen = copies() >>> 0;

function refill() {
  seen = copies() >>> 0; // before the bytes: a copy that is made between voids them
  fill(bytes);
  // 53 bits, as many as a number below 1 has.
  for (let at = 0; at < BATCH; at++) {
    batch[at] = ((words[2 * at] >>> 5) * 67108864 + (words[2 * at + 1] >>> 6)) / 9007199254740992;
  }
  bytes.fill(0);
  left = BATCH;
}

function random() {
  // The word first: whoever sets it again has moved the count before. VMClock's count is in
  // neither, so where it can be read it is asked for, at 50 ns.
  if (left === 0 || word[0] !== 1 || count[0] !== seen) refill();
  else if (machines && seen !== copies() >>> 0) refill();
  return batch[--left];
}

Object.defineProperty(Math, "random", { value: random, writable: true, configurable: true });

// --- node:crypto and globalThis.crypto ------------------------------------------------------------

const original = { ...crypto };

/** Returns the bytes that a view or an ArrayBuffer covers. */
function view(buffer, offset = 0, size = undefined) {
  const all = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  const unit = buffer.BYTES_PER_ELEMENT ?? 1;
  const from = offset * unit;
  return all.subarray(from, size === undefined ? undefined : from + size * unit);
}

// Node's own function comes first in each: it refuses what it refuses, with its own errors, and
// what it has drawn is overwritten.
function randomFillSync(buffer, offset, size) {
  original.randomFillSync(buffer, offset, size);
  fill(view(buffer, offset, size));
  return buffer;
}

function randomFill(buffer, ...rest) {
  const callback = rest.pop();
  return original.randomFill(buffer, ...rest, typeof callback !== "function" ? callback : (error) => {
    if (!error) fill(view(buffer, ...rest));
    callback(error, buffer);
  });
}

function randomBytes(size, callback) {
  if (callback === undefined) {
    const drawn = original.randomBytes(size);
    fill(view(drawn));
    return drawn;
  }
  return original.randomBytes(size, typeof callback !== "function" ? callback : (error, drawn) => {
    if (!error) fill(view(drawn));
    callback(error, drawn);
  });
}

function randomInt(from, below, callback) {
  // As Node has it: the second argument says whether there are two limits, and not the number of
  // arguments, since a function that passes its own on may pass undefined.
  const isLimitAlone = below === undefined || typeof below === "function";
  if (isLimitAlone) callback = below;
  const isSync = typeof callback !== "function";
  // For its errors.
  if (isLimitAlone) original.randomInt(from);
  else original.randomInt(from, below, isSync ? callback : undefined);
  if (isLimitAlone) [from, below] = [0, from];
  const range = below - from; // at most 2^48 - 1, as Node has checked
  const limit = 2 ** 48 - (2 ** 48 % range); // numbers from here on would favour the small ones
  const six = Buffer.alloc(6);
  let number;
  do {
    fill(view(six));
    number = six.readUIntBE(0, 6);
  } while (number >= limit);
  number = from + (number % range);
  if (isSync) return number;
  process.nextTick(callback, undefined, number);
}

const uuid = new Uint8Array(16);
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function randomUUID(options) {
  if (options !== undefined) original.randomUUID(options); // for its errors
  fill(uuid);
  uuid[6] = (uuid[6] & 0x0f) | 0x40;
  uuid[8] = (uuid[8] & 0x3f) | 0x80;
  let text = "";
  for (let at = 0; at < 16; at++) {
    text += (at === 4 || at === 6 || at === 8 || at === 10 ? "-" : "") + hex[uuid[at]];
  }
  return text;
}

const { getRandomValues: values } = crypto.webcrypto;

function getRandomValues(array) {
  values.call(crypto.webcrypto, array);
  fill(view(array));
  return array;
}

const ours = { randomBytes, pseudoRandomBytes: randomBytes, randomFill, randomFillSync, randomInt, randomUUID };
Object.assign(crypto, ours);
const plain = { writable: true, configurable: true, enumerable: true };
// crypto.getRandomValues is read from there at each access.
const prototype = Object.getPrototypeOf(crypto.webcrypto);
for (const [name, value] of Object.entries({ getRandomValues, randomUUID: () => randomUUID() })) {
  Object.defineProperty(prototype, name, { value, ...plain });
}
// `import { randomUUID } from "node:crypto"` has a copy of each name.
require("node:module").syncBuiltinESMExports();
