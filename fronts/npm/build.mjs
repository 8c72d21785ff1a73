// Makes the package: `node fronts/npm/build.mjs [FOLDER]`, by default fronts/npm/target/package.
//
// Needs cargo and `rustup target add wasm32-unknown-unknown`. The compiled library becomes a text in
// a module, because a file beside the modules would have to be read by one interface in Node, by
// another in browsers, and by a rule of its own in each bundler.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const TRIPLE = "wasm32-unknown-unknown";
const LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"];

const here = fileURLToPath(new URL(".", import.meta.url));
const root = resolve(here, "../..");
const target = process.env.CARGO_TARGET_DIR ?? join(here, "target");
const folder = resolve(process.argv[2] ?? join(here, "target/package"));

const build = ["build", "--release", "--quiet", "--locked", "--target", TRIPLE];
execFileSync("cargo", [...build, "--manifest-path", join(here, "wasm/Cargo.toml")], {
    stdio: "inherit",
    env: { ...process.env, CARGO_TARGET_DIR: target },
});
const wasm = readFileSync(join(target, TRIPLE, "release/headwater_npm.wasm"));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of ["package.json", "README.md", "NOTICES", "index.js", "index.d.ts", "src"]) {
    cpSync(join(here, name), join(folder, name), { recursive: true });
}
for (const name of LICENCES) {
    cpSync(join(root, name), join(folder, name));
}
writeFileSync(
    join(folder, "src/wasm.js"),
    `// The compiled library, ${wasm.length} bytes. Made by fronts/npm/build.mjs.\n`
        + `const TEXT =\n    "${wasm.toString("base64")}";\n\n`
        + "export const WASM = Uint8Array.from(atob(TEXT), (letter) => letter.charCodeAt(0));\n",
);
console.log(`${folder}: ${wasm.length} bytes of WebAssembly`);
