// The examples of the documents run, and print what their comments say. Run by `cargo xtask test
// --only "npm package"`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";

const PACKAGE = pathToFileURL(`${process.env.HEADWATER_NPM}/index.js`).href;

for (const document of ["../README.md", "../../../docs/javascript.md"]) {
    const text = readFileSync(new URL(document, import.meta.url), "utf8");
    const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block);
    test(`${document} has examples`, () => assert.ok(blocks.length > 0));
    blocks.forEach((block, i) => {
        test(`example ${i + 1} of ${document}`, () => {
            const program = block.replace('"headwater"', JSON.stringify(PACKAGE));
            assert.notEqual(program, block);
            const printed = execFileSync("node", ["--input-type=module"], { input: program, encoding: "utf8" });
            const expected = [...block.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, said]) => said);
            assert.ok(expected.length > 0, "an example that prints nothing shows nothing");
            assert.deepEqual(printed.trim().split("\n"), expected);
        });
    });
}

test("the page of the document imports what the package has", async () => {
    const text = readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8");
    const [, page] = /```html\n(.*?)```/s.exec(text);
    const names = /import \{ (.*) \}/.exec(page)[1].split(", ");
    const headwater = await import(PACKAGE);
    assert.ok(names.length > 1 && names.every((name) => name in headwater), names.join());
    assert.match(page, /\.\/headwater\/index\.js/);
});
