// The hash join of MySQL under a reader's hands: native/kernels/hash_join/hybrid.hpp, compiled to WebAssembly.

// What `run` (native/kernels/hash_join/wasm.cpp) leaves in memory, in its order.
const COUNTERS = [
  "count", "build_rows_in_memory", "passes", "chunk_files", "rows_written", "rows_read", "bytes_written", "bytes_read",
  "hash_probes", "peak_memory_bytes",
  "work_build", "work_probe", "work_spill_write", "work_spill_read", "work_chunk_join",
];

// Okabe-Ito, and a pattern each for who does not see the colours apart.
const PHASES = [
  { counter: "work_build", name: "Build in memory", colour: "#0072B2", pattern: "" },
  { counter: "work_probe", name: "Probe in memory", colour: "#56B4E9", pattern: "M0 8 L8 0" },
  { counter: "work_spill_write", name: "Write chunk files", colour: "#E69F00", pattern: "M0 4 H8" },
  { counter: "work_spill_read", name: "Read chunk files", colour: "#F0E442", pattern: "M4 0 V8" },
  { counter: "work_chunk_join", name: "Join chunk pairs", colour: "#009E73", pattern: "M0 0 L8 8 M0 8 L8 0" },
];

const ROWS = [500, 1000, 2000, 5000, 10000, 20000, 50000];
const BUFFERS = Array.from({ length: 11 }, (_, i) => 16384 * 2 ** i);
const rowCount = (value) => `${count(value)} rows`;

export default {
  title: "A hash join and its join buffer",

  inputs: [
    { name: "build_rows", label: "Build rows", values: ROWS, start: 10000, format: rowCount },
    { name: "probe_rows", label: "Probe rows", values: ROWS, start: 20000, format: rowCount },
    { name: "join_buffer_bytes", label: "Join buffer", plays: "Play the buffers", values: BUFFERS, start: 262144, format: bytes },
    {
      name: "skew_quarters", label: "Skew of build keys", values: [0, 1, 2, 3, 4, 5, 6, 7, 8], start: 0,
      format: (quarters) => (quarters ? `exponent ${(quarters / 4).toFixed(2)}` : "none"),
    },
    {
      name: "estimate_percent", label: "Row estimate", values: [10, 25, 50, 100, 200, 1000], start: 100,
      format: (percent) => (percent === 100 ? "exact" : `${count(percent)} % of the truth`),
    },
  ],

  presets: [
    { label: "All in memory", values: { join_buffer_bytes: 16384 * 2 ** 10 } },
    { label: "A small buffer", values: { join_buffer_bytes: 16384 } },
    { label: "A wrong estimate", values: { join_buffer_bytes: 65536, estimate_percent: 10 } },
  ],

  compute(kernel, inputs) {
    const estimate = Math.max(1, Math.round((inputs.build_rows * inputs.estimate_percent) / 100));
    const address = kernel.run(
      inputs.build_rows, inputs.probe_rows, inputs.skew_quarters, estimate, inputs.join_buffer_bytes);
    const values = new BigUint64Array(kernel.memory.buffer, address, COUNTERS.length);
    return { inputs, ...Object.fromEntries(COUNTERS.map((name, i) => [name, Number(values[i])])) };
  },

  question: {
    draw: (pick) => ({ build_rows: pick(ROWS), probe_rows: pick(ROWS), join_buffer_bytes: pick(BUFFERS.slice(0, 9)) }),
    ask: ({ inputs }) => `A hash join builds ${count(inputs.build_rows)} rows of 100 bytes, as many as were estimated, and probes with ` +
      `${count(inputs.probe_rows)} rows. The join buffer has ${bytes(inputs.join_buffer_bytes)}. How much of the build rows stays in memory?`,
    choices: () => ["all", "a half or more, but not all", "less than half"],
    right({ inputs, build_rows_in_memory }) {
      const share = build_rows_in_memory / inputs.build_rows;
      return share === 1 ? "all" : share >= 0.5 ? "a half or more, but not all" : "less than half";
    },
  },

  results(result) {
    return [
      ["Chunk files", count(result.chunk_files)],
      ["Written to them", bytes(result.bytes_written)],
      ["Read from them", bytes(result.bytes_read)],
      ["Hash table filled", result.passes === 1 ? "once" : `${count(result.passes)} times`],
      ["Look-ups", count(result.hash_probes)],
      ["Result rows", count(result.count)],
    ];
  },

  sentence(result) {
    const { build_rows, join_buffer_bytes } = result.inputs;
    const buffer = `a join buffer of ${bytes(join_buffer_bytes)}`;
    if (result.chunk_files === 0) {
      return `All ${count(build_rows)} build rows fit in ${buffer}: no chunk file, one look-up for each probe row.`;
    }
    const pairs = result.chunk_files / 2;
    const again = result.bytes_read - result.bytes_written;
    const rereading = again > 0 ? ` Chunks that do not fit in the buffer make it read ${bytes(again)} more than once.` : "";
    return `${count(result.build_rows_in_memory)} of ${count(build_rows)} build rows fit in ${buffer}. The rest goes to ` +
      `${count(pairs)} ${pairs === 1 ? "pair" : "pairs"} of chunk files: ${bytes(result.bytes_written)} written, ` +
      `${bytes(result.bytes_read)} read.${rereading}`;
  },

  picture(result, width, id) {
    const total = PHASES.reduce((sum, phase) => sum + result[phase.counter], 0);
    const memoryShare = result.build_rows_in_memory / result.inputs.build_rows;
    const parts = [];
    const text = (x, y, words, more = "") => parts.push(`<text x="${x}" y="${y}" ${more}>${words}</text>`);
    const box = (x, y, wide, high, fill) =>
      parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, wide).toFixed(1)}" height="${high}" fill="${fill}" stroke="currentColor" stroke-width="1"/>`);
    const filled = (x, y, wide, high, index) => {
      if (wide < 0.5) return;
      box(x, y, wide, high, PHASES[index].colour);
      if (PHASES[index].pattern) box(x, y, wide, high, `url(#${id}-p${index})`);
    };
    const percent = (share) => (share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(share * 100)} %`);

    text(0, 14, "Build rows", 'font-weight="600"');
    box(0.5, 22, width - 1, 22, "none");
    filled(0.5, 22, (width - 1) * memoryShare, 22, 0);
    filled(0.5 + (width - 1) * memoryShare, 22, (width - 1) * (1 - memoryShare), 22, 2);
    text(0, 62, `${count(result.build_rows_in_memory)} in memory`);
    text(width, 62, `${count(result.inputs.build_rows - result.build_rows_in_memory)} in chunk files`, 'text-anchor="end"');

    text(0, 94, "Share of counted work", 'font-weight="600"');
    let x = 0.5;
    PHASES.forEach((phase, i) => {
      const wide = ((width - 1) * result[phase.counter]) / total;
      filled(x, 102, wide, 30, i);
      x += wide;
    });
    PHASES.forEach((phase, i) => {
      const y = 146 + i * 22;
      const share = result[phase.counter] / total;
      filled(0.5, y, 22, 14, i);
      parts.push(`<g opacity="${share ? 1 : 0.75}">`);
      text(32, y + 12, phase.name);
      text(width, y + 12, percent(share), 'text-anchor="end"');
      parts.push("</g>");
    });

    const patterns = PHASES.map((phase, i) => phase.pattern &&
      `<pattern id="${id}-p${i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${phase.pattern}" stroke="#000" stroke-opacity="0.55" fill="none"/></pattern>`);
    const height = 146 + PHASES.length * 22;
    const shares = PHASES.map((phase) => `${phase.name} ${percent(result[phase.counter] / total)}`).join(", ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars. ${count(result.build_rows_in_memory)} of ${count(result.inputs.build_rows)} build rows in memory. Counted work: ${shares}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
