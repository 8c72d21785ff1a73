// Draws from node:crypto when told to, and times itself; child.rs says how it is asked.
"use strict";

const crypto = require("node:crypto");
const readline = require("node:readline");

const CHUNK = 1 << 20;
let buffer = Buffer.alloc(0); // kept, so that its pages are there when the clock runs
let kept; // where results go that the compiler must not leave out

const functions = {
  randomBytes: {
    sample: () => crypto.randomBytes(buffer.length),
    run(calls) {
      const length = buffer.length;
      for (let call = 0; call < calls; call++) kept = crypto.randomBytes(length);
    },
  },
  randomFillSync: {
    sample: () => crypto.randomFillSync(buffer),
    run(calls) {
      for (let call = 0; call < calls; call++) crypto.randomFillSync(buffer);
    },
  },
  randomUUID: {
    sample: () => Buffer.from(crypto.randomUUID(), "ascii"),
    run(calls) {
      for (let call = 0; call < calls; call++) kept = crypto.randomUUID();
    },
  },
};

console.log(`Node ${process.versions.node}, OpenSSL ${process.versions.openssl}`);
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, name, length, number] = line.split(" ");
  if (!(name in functions) || !(name in crypto)) {
    console.log(`error this Node has no ${name}`);
    return;
  }
  if (buffer.length !== Number(length)) buffer = Buffer.alloc(Number(length));
  if (verb === "sample") {
    buffer.fill(Number(number));
    const bytes = functions[name].sample();
    // In pieces, because a string has a greatest length.
    for (let start = 0; start < bytes.length; start += CHUNK) {
      process.stdout.write(bytes.toString("hex", start, start + CHUNK));
    }
    console.log();
  } else {
    const start = process.hrtime.bigint();
    functions[name].run(Number(number));
    console.log(String(process.hrtime.bigint() - start));
  }
});
