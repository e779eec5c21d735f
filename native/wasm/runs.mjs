// Runs machine.wasm without a browser: node runs.mjs WASM n1 ... n9 [n1 ... n9 ...], a line of eight numbers a run, as the
// native main of machine.cpp prints it.
import { readFileSync } from "node:fs";

const [file, ...numbers] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
const { exports } = new WebAssembly.Instance(module, imports);
exports._initialize?.();
for (let i = 0; i + 9 <= numbers.length; i += 9) {
  const at = exports.run(...numbers.slice(i, i + 9).map(Number));
  console.log([...new BigUint64Array(exports.memory.buffer, at, 8)].join(" "), "");
}
