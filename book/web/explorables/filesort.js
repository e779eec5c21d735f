// Filesort under a reader's hands: native/kernels/filesort, compiled to WebAssembly.

// What `run` (native/kernels/filesort/wasm.cpp) leaves in memory for each design, in its order.
const COUNTERS = [
  "leaf_pages", "pages_of_values", "pages_fetched", "lob_reads", "bytes_copied", "heap_operations", "comparisons",
  "runs", "merge_passes", "bytes_written", "record_bytes", "is_priority_queue",
];

const DESIGNS = ["5.6: row ids, narrow read set", "9.7: carried columns, full read set", "9.7, LONGTEXT: row ids, full read set"];

// Okabe-Ito, and a pattern each for who does not see the colours apart.
const PARTS = [
  { counter: "leaf_pages", name: "rows, in the scan", colour: "#56B4E9", pattern: "" },
  { counter: "pages_of_values", name: "long values, in the scan", colour: "#E69F00", pattern: "M0 8 L8 0" },
  { counter: "pages_fetched", name: "rows and values, fetched late", colour: "#009E73", pattern: "M0 0 L8 8 M0 8 L8 0" },
];

const pages = (design) => PARTS.reduce((sum, part) => sum + design[part.counter], 0);

export default {
  title: "Sorting wide rows, in three designs",

  inputs: [
    { name: "rows", label: "Rows", values: [100, 200, 500, 1000, 2000], start: 1000, format: (n) => `${count(n)} rows` },
    {
      name: "limit", label: "LIMIT", plays: "Play the limits", values: [1, 3, 10, 30, 100, 300, 1000, 0], start: 1,
      format: (limit) => (limit ? count(limit) : "none, all rows"),
    },
    {
      name: "lob_bytes", label: "Long value", values: [0, 100, 1000, 4000, 8192], start: 8192,
      format: (n) => (n ? bytes(n) : "empty"),
    },
    {
      name: "sort_buffer_bytes", label: "Sort buffer", values: [32768, 65536, 131072, 262144, 1048576, 4194304, 33554432],
      start: 262144, format: bytes,
    },
    { name: "design", label: "Design", values: [0, 1, 2], start: 1, format: (i) => DESIGNS[i] },
  ],

  presets: [
    { label: "All rows", values: { limit: 0 } },
    { label: "Short values", values: { lob_bytes: 100 } },
    { label: "100 rows, small buffer", values: { limit: 100, sort_buffer_bytes: 32768 } },
  ],

  compute(kernel, inputs) {
    const address = kernel.run(inputs.rows, inputs.limit, inputs.lob_bytes, inputs.sort_buffer_bytes);
    const values = new BigUint64Array(kernel.memory.buffer, address, DESIGNS.length * COUNTERS.length);
    const designs = DESIGNS.map((_, d) =>
      Object.fromEntries(COUNTERS.map((name, i) => [name, Number(values[d * COUNTERS.length + i])])));
    return { inputs, designs, ...designs[inputs.design] };
  },

  question: {
    draw: (pick) => ({
      rows: pick([100, 500, 1000, 2000]), limit: pick([1, 10, 100, 0]), lob_bytes: pick([100, 1000, 8192]),
      sort_buffer_bytes: pick([32768, 262144, 4194304]), design: pick([0, 1]),
    }),
    ask: ({ inputs }) => `${count(inputs.rows)} rows with a long value of ${bytes(inputs.lob_bytes)} are sorted, ` +
      `${inputs.limit ? `LIMIT ${inputs.limit}` : "without LIMIT"}, in a sort buffer of ${bytes(inputs.sort_buffer_bytes)}, as in ${DESIGNS[inputs.design]}. How?`,
    choices: () => ["by a priority queue", "by one sort in memory", "in runs, merged from a temporary file"],
    right: (result) => (result.is_priority_queue ? "by a priority queue" : result.runs ? "in runs, merged from a temporary file" : "by one sort in memory"),
  },

  results(result) {
    return [
      ["Pages read", count(pages(result))],
      ["Long values read from their own pages", count(result.lob_reads)],
      ["Bytes copied", bytes(result.bytes_copied)],
      ["A sort record", bytes(result.record_bytes)],
      ["Priority queue", result.is_priority_queue ? `yes, ${count(result.heap_operations)} heap operations` : "no"],
      ["Runs in the temporary file", result.runs ? `${count(result.runs)}, merged in ${count(result.merge_passes)} passes` : "none"],
      ["Comparisons", count(result.comparisons)],
    ];
  },

  sentence(result) {
    const returned = result.inputs.limit ? Math.min(result.inputs.limit, result.inputs.rows) : result.inputs.rows;
    const [first, ...others] = DESIGNS.map((name, i) => [pages(result.designs[i]), name]).sort((a, b) => a[0] - b[0]);
    const times = others[others.length - 1][0] / first[0];
    return `${count(returned)} of ${count(result.inputs.rows)} rows: ${count(pages(result))} pages and ` +
      `${bytes(result.bytes_copied)} copied. ` +
      (times < 1.005 ? "All three designs read the same pages." :
        `Fewest pages: ${first[1]}, ${count(first[0])}; most: ${count(others[others.length - 1][0])}, ${times.toFixed(1)} times as many.`);
  },

  picture(result, width, id) {
    const parts = [];
    const text = (x, y, words, more = "") => parts.push(`<text x="${x}" y="${y}" ${more}>${words}</text>`);
    const filled = (x, y, wide, high, which) => {
      if (wide < 0.5) return;
      for (const fill of [PARTS[which].colour, PARTS[which].pattern && `url(#${id}-f${which})`].filter(Boolean)) {
        parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${high}" fill="${fill}" stroke="currentColor" stroke-width="1"/>`);
      }
    };
    const most = Math.max(...result.designs.map(pages), 1);
    text(0, 14, "Pages read", 'font-weight="600"');
    result.designs.forEach((design, d) => {
      const y = 28 + d * 54;
      const mine = d === result.inputs.design;
      text(0, y + 12, `${mine ? "▸ " : ""}${DESIGNS[d]}`, mine ? 'font-weight="600"' : "");
      text(width, y + 12, count(pages(design)), 'text-anchor="end"');
      let x = 0.5;
      PARTS.forEach((part, i) => {
        const wide = ((width - 1) * design[part.counter]) / most;
        filled(x, y + 18, wide, 22, i);
        x += wide;
      });
    });
    PARTS.forEach((part, i) => {
      const y = 196 + i * 22;
      filled(0.5, y, 22, 14, i);
      text(32, y + 12, part.name);
    });
    const patterns = PARTS.map((part, i) => part.pattern &&
      `<pattern id="${id}-f${i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${part.pattern}" stroke="#000" stroke-opacity="0.55" fill="none"/></pattern>`);
    const said = result.designs.map((design, d) => `${DESIGNS[d]} ${count(pages(design))}`).join("; ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 264" width="${width}" height="264" role="img" ` +
      `aria-label="Bars of pages read. ${said}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
