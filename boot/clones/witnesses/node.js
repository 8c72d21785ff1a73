// Witness for Node, Bun and Deno: shows which random sources repeat in copies of a warm process.
//
// Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
// is copied while it waits, and each copy draws for itself; whoever started it compares them.
//
// HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory;
// HEADWATER_WITNESS the runtime that is to stand in the ids (node, bun, deno).
//
// The file is valid both as CommonJS and as an ES module: the runtimes disagree on what a plain
// .js file is, and import() is the only way to a built-in module that all of them take in both.

const WARM_UPS = 5;
const DRAWS = 8;
const POLL_MS = 5;

async function main() {
  const fs = await import("node:fs");
  const path = await import("node:path");
  const crypto = await import("node:crypto");
  const process = (await import("node:process")).default;

  const home = process.env.HEADWATER_WITNESS_DIR;
  const runtime = process.env.HEADWATER_WITNESS || "node";
  if (!home) throw new Error("HEADWATER_WITNESS_DIR is not set");
  const inPlace = (name) => path.join(home, name);
  const scratch = inPlace("scratch");
  if (!fs.existsSync(scratch)) fs.mkdirSync(scratch);

  const hex = (bytes) => Buffer.from(bytes).toString("hex");

  function temporaryName() {
    // Removed at once: a name still taken makes the next copy try another one, and that retry
    // would hide a repeat.
    const made = fs.mkdtempSync(path.join(scratch, "t"));
    fs.rmdirSync(made);
    return path.basename(made);
  }

  // The kernel's source first: in a copied machine only the first draws of the kernel are sure to
  // be the same in each copy.
  const candidates = [
    ["fs.mkdtemp", temporaryName],
    ["crypto.randomBytes", () => crypto.randomBytes(16).toString("hex")],
    ["crypto.randomFill", () => hex(crypto.randomFillSync(new Uint8Array(16)))],
    // Two of them to a value: one of 48 bits is short for telling a repeat from an accident.
    ["crypto.randomInt", () => `${crypto.randomInt(2 ** 47)}-${crypto.randomInt(2 ** 47)}`],
    // Without the option the ids come from a batch of 128 that was made in advance.
    ["crypto.randomUUID", () => crypto.randomUUID()],
    ["crypto.randomUUID, uncached", () => crypto.randomUUID({ disableEntropyCache: true })],
    [
      "crypto.generateKey",
      () => crypto.generateKeySync("hmac", { length: 128 }).export().toString("hex"),
    ],
    ["webcrypto.getRandomValues", () => hex(crypto.webcrypto.getRandomValues(new Uint8Array(16)))],
    ["webcrypto.randomUUID", () => crypto.webcrypto.randomUUID()],
    ["Math.random", () => Math.random()],
  ];
  // After the main thread's: a worker has numbers of its own, and must not learn of the copy from
  // being the first to draw in it. Workers of the other two are not Node's.
  if (runtime === "node") candidates.push(["Math.random, in a worker", await drawsInWorker()]);

  /** Returns a function that lets another thread draw. */
  async function drawsInWorker() {
    const { Worker } = await import("node:worker_threads");
    const worker = new Worker(
      `const { parentPort } = require("node:worker_threads");
       parentPort.on("message", () => parentPort.postMessage(Math.random()));`,
      { eval: true },
    );
    return () =>
      new Promise((resolve, reject) => {
        worker.once("error", reject);
        worker.once("message", resolve);
        worker.postMessage(0);
      });
  }

  // The first warm-up also finds out what this runtime offers.
  const sources = [];
  const skipped = [];
  for (const [name, draw] of candidates) {
    try {
      await draw();
      sources.push([`${runtime}/${name}`, draw]);
    } catch (error) {
      const reason = String(error.message).replace(/\s+/g, " ");
      skipped.push(`skipped\t${runtime}/${name}\t${reason}`);
    }
  }
  for (let round = 1; round < WARM_UPS; round++) {
    for (const [, draw] of sources) await draw();
  }

  // Written under another name first, so that nobody reads half of it.
  function publish(name, lines) {
    fs.writeFileSync(inPlace(`${name}.tmp`), lines.join("\n") + "\n");
    fs.renameSync(inPlace(`${name}.tmp`), inPlace(name));
  }

  const title = { node: "Node", bun: "Bun", deno: "Deno" }[runtime] || runtime;
  const version = process.versions[runtime] || process.version;
  publish("ready", [`${title} ${version}`, ...skipped]);

  while (!fs.existsSync(inPlace("go"))) {
    // The planter gave up, and no go will ever come. To return is not enough here: the worker waits
    // for messages, and the process would wait with it.
    if (!fs.existsSync(inPlace("ready"))) process.exit(0);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }

  const lines = [];
  for (let round = 0; round < DRAWS; round++) {
    for (const [id, draw] of sources) lines.push(`${id}\t${await draw()}`);
  }
  publish("draws", lines);
  // At once, without taking the engine down: that crashes Deno in a restored process.
  process.exit(0);
}

main().catch((error) => {
  console.error(`node witness: ${error.message}`);
  // Not process.exit(): `process` is no global in every one of the runtimes.
  import("node:process").then((process) => process.default.exit(1));
});
