// Reproducible random streams. Not for secrets: those come from `crypto.getRandomValues`.

export { Key } from "./src/key.js";
export { Stream } from "./src/stream.js";
export { Distribution } from "./src/distribution.js";
export { Generator } from "./src/generator.js";
export { Xoshiro256pp } from "./src/xoshiro.js";
export * from "./src/factories.js";
