// Computes an explorable without a browser: for its plain figure and for the test against the native kernel.
//   node explorable.mjs SCRIPT WASM [CASES] < inputs.json  ->
//     {"results": [...], "picture": "<svg ...>", "milliseconds": slowest, "knobs": [...], "presets": [...],
//      "cases": what its question asks at the seeds 0 to CASES - 1}
// SCRIPT is runtime and module as a page gets them (engineroom.show.bundle). Inputs left out have their start value; the
// picture is of the start values, and drawn where neither inputs nor cases are asked for.
import { readFileSync } from "node:fs";

const [script, wasm, cases = "0"] = process.argv.slice(2);
const { definition, startKernel, drawn, computed } = new Function(
  `${readFileSync(script, "utf8")}; return { definition, startKernel, drawn, computed };`)();
const kernel = startKernel(readFileSync(wasm));
const start = Object.fromEntries(definition.inputs.map((input) => [input.name, input.start]));
let milliseconds = 0;
const results = JSON.parse(readFileSync(0, "utf8")).map((inputs) => {
  const before = performance.now();
  const result = computed(definition, kernel, { ...start, ...inputs });
  milliseconds = Math.max(milliseconds, performance.now() - before);
  return { ...result, sentence: definition.sentence(result), shown: definition.results(result) };
});
const picture = results.length + Number(cases) ? "" : definition.picture(computed(definition, kernel, start), 640, "plain");
// Two draws may be one case.
const known = new Map();
const asked = { ...definition, compute(own, inputs) {
  const key = JSON.stringify(inputs);
  if (!known.has(key)) known.set(key, computed(definition, own, inputs));
  return known.get(key);
} };
const knobs = definition.inputs.map(({ name, values = null, start: at, isSwitch = false, isChoice = false }) => ({ name, values, start: at, isSwitch, isChoice }));
process.stdout.write(JSON.stringify({
  results, picture: `${picture.replaceAll("currentColor", "#111")}\n`, milliseconds, knobs, presets: definition.presets ?? [],
  cases: definition.question ? Array.from({ length: Number(cases) }, (_, seed) => drawn(asked, kernel, seed)) : [],
}));
