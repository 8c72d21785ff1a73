// Runs the vectors in a headless Chromium: `CHROMIUM=chromium node page.mjs PACKAGE`. The page loads
// the package's modules as they are, from a server of this process, and sends back what it found.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PATIENCE = 120_000;
const files = resolve(process.argv[2]);
const places = {
    "/headwater/": `${files}/`,
    "/vectors/": fileURLToPath(new URL("../../../streams/vectors/", import.meta.url)),
    "/test/": fileURLToPath(new URL(".", import.meta.url)),
};
const TYPES = { js: "text/javascript", mjs: "text/javascript", json: "application/json" };
const PAGE = `<!doctype html><meta charset="utf-8"><script type="module">
let answer;
try {
    const headwater = await import("/headwater/index.js");
    const { check } = await import("/test/vectors.mjs");
    const names = ["keys", "streams", "numbers", "distributions", "samplers", "generators", "seeds"];
    const read = async (name) => [name, await (await fetch("/vectors/" + name + ".json")).json()];
    answer = check(headwater, Object.fromEntries(await Promise.all(names.map(read))));
    answer.halves = globalThis.Float16Array !== undefined;
} catch (error) {
    answer = { compared: 0, differences: [String(error.stack ?? error)] };
}
await fetch("/found", { method: "POST", body: JSON.stringify(answer) });
</script>`;

const profile = mkdtempSync(join(tmpdir(), "headwater-npm-"));
let browser;
let status;
let finish = (code, line) => {
    console.log(line);
    status = code;
    finish = () => {};
    browser.kill();
};
/** Removes what the browser wrote, once it writes no more, and ends. */
const end = (code) => {
    finish(1, `the browser ended with ${code} before it answered`);
    // A process of the browser may outlive it for a moment.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    process.exit(status);
};
const server = createServer((request, response) => {
    const place = Object.keys(places).find((start) => request.url.startsWith(start));
    if (request.url === "/found") {
        let body = "";
        request.on("data", (part) => (body += part));
        request.on("end", () => {
            const { compared, differences, halves } = JSON.parse(body);
            const isRight = differences.length === 0 && compared > 5000;
            finish(isRight ? 0 : 1, `${compared} comparisons in the browser`
                + `${halves ? ", floats of 16 bits too" : ""}; ${differences.length} differ ${differences.slice(0, 5)}`);
        });
    } else if (place === undefined) {
        response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
    } else {
        const file = places[place] + request.url.slice(place.length);
        response.writeHead(200, { "content-type": TYPES[file.split(".").pop()] }).end(readFileSync(file));
    }
});
server.listen(0, "127.0.0.1", () => {
    const page = `http://127.0.0.1:${server.address().port}/`;
    const options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
    browser = spawn(process.env.CHROMIUM ?? "chromium", [...options, `--user-data-dir=${profile}`, page], { stdio: "ignore" });
    browser.on("error", (error) => end(error.message));
    browser.on("exit", (code) => end(code));
});
setTimeout(() => finish(1, `no answer of the browser in ${PATIENCE / 1000} s`), PATIENCE);
