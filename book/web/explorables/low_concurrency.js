// The value lists of an INSERT under a reader's hands: native/kernels/low_concurrency, compiled to WebAssembly.

// What `run` (native/kernels/low_concurrency/wasm.cpp) leaves in memory: three numbers a container, then two.
const LISTS = [
  { name: "list of 5.7", colour: "#D55E00", pattern: "" },
  { name: "deque of 8.0", colour: "#0072B2", pattern: "M0 8 L8 0" },
  { name: "deque of 9.7", colour: "#009E73", pattern: "M0 4 L8 4" },
];
const VALUES = 3 * LISTS.length + 2;

// Of a deque of `columns` values: the first block begins in its middle and holds 64, each further one 128.
const blocksOfRow = (columns) => (columns <= 64 ? 1 : 1 + Math.ceil((columns - 64) / 128));

export default {
  title: "The lists of a multi-row INSERT",

  inputs: [
    {
      name: "columns", label: "Columns", plays: "Play the columns", start: 4,
      values: [1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 40, 48, 60, 63, 64, 65, 80, 100, 128, 192, 193, 256],
      format: (n) => (n === 1 ? "1 column" : `${count(n)} columns`),
    },
    {
      name: "rows", label: "Rows of the statement", start: 1000,
      values: [1, 10, 100, 1000, 10000, 100000, 1000000],
      format: (n) => (n === 1 ? "1 row" : `${count(n)} rows`),
    },
  ],

  presets: [
    { label: "A million narrow rows", values: { columns: 1, rows: 1000000 } },
    { label: "The 65th value", values: { columns: 65 } },
  ],

  compute(kernel, inputs) {
    const address = kernel.run(inputs.rows, inputs.columns);
    const values = Array.from(new Float64Array(kernel.memory.buffer, address, VALUES));
    const lists = LISTS.map((_, i) => ({ bytes: values[3 * i], row: values[3 * i + 1], blocks: values[3 * i + 2] }));
    return { inputs, lists, items: values[VALUES - 2], parsed: values[VALUES - 1] === 1, row_blocks: blocksOfRow(inputs.columns) };
  },

  question: {
    draw: (pick) => ({ columns: pick([1, 2, 4, 8, 16, 32, 60, 64, 65, 100, 192, 256]), rows: pick([10, 100, 1000, 10000]) }),
    ask: ({ inputs }) => `An INSERT has ${count(inputs.rows)} rows of ${count(inputs.columns)} ${inputs.columns === 1 ? "value" : "values"}. How many times the bytes ` +
      "of 5.7's lists do the deques of 9.7 take?",
    choices: () => ["less than twice", "2 to 10 times", "more than 10 times"],
    right({ lists }) {
      const times = lists[2].bytes / lists[0].bytes;
      return times < 2 ? "less than twice" : times <= 10 ? "2 to 10 times" : "more than 10 times";
    },
  },

  results(result) {
    const [list, , deque] = result.lists;
    return [
      ["List of 5.7, all rows", bytes(list.bytes)],
      ["Deque of 8.0, all rows", bytes(result.lists[1].bytes)],
      ["Deque of 9.7, all rows", bytes(deque.bytes)],
      ["Items, the same for all", bytes(result.items)],
      ["1 KiB blocks per row", count(result.row_blocks)],
      ["9.7 over 5.7, lists alone", `${(deque.bytes / list.bytes).toFixed(2)} times`],
      ["9.7 over 5.7, with items", `${((deque.bytes + result.items) / (list.bytes + result.items)).toFixed(2)} times`],
    ];
  },

  sentence(result) {
    const [list, early, deque] = result.lists;
    const dead = early.bytes - deque.bytes;
    return `${count(result.inputs.rows)} rows of ${count(result.inputs.columns)} columns: ${bytes(list.bytes)} in the list of 5.7, ` +
      `${bytes(deque.bytes)} in the deque of 9.7, ${(deque.bytes / list.bytes).toFixed(1)} times. ` +
      (dead > 0 ? `8.0 leaves ${bytes(dead)} more in copied block arrays.` : "The block arrays of 8.0 waste nothing more.");
  },

  picture(result, width, id) {
    const height = 250;
    const left = width > 480 ? 112 : 96;
    const right = width - 84;
    const most = Math.max(...result.lists.map((each) => each.bytes + result.items), 1);
    const x = (value) => left + ((right - left) * value) / most;
    const parts = [];
    LISTS.forEach((each, i) => {
      const y = 24 + i * 62;
      const { bytes: own } = result.lists[i];
      parts.push(`<text x="0" y="${y + 22}">${each.name}</text>`);
      for (const fill of [each.colour, each.pattern && `url(#${id}-l${i})`].filter(Boolean)) {
        parts.push(`<rect x="${left}" y="${y}" width="${Math.max(1, x(own) - left).toFixed(1)}" height="34" fill="${fill}"/>`);
      }
      parts.push(`<rect x="${x(own).toFixed(1)}" y="${y}" width="${(x(own + result.items) - x(own)).toFixed(1)}" height="34" fill="none" stroke="currentColor"/>`);
      parts.push(`<text x="${(x(own + result.items) + 6).toFixed(1)}" y="${y + 22}">${bytes(own + result.items)}</text>`);
    });
    parts.push(`<text x="0" y="${height - 26}">filled: lists; outlined: items, ${bytes(result.items)}</text>`);
    const patterns = LISTS.map((each, i) => each.pattern &&
      `<pattern id="${id}-l${i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${each.pattern}" stroke="#fff" stroke-opacity="0.55" fill="none"/></pattern>`);
    const said = LISTS.map((each, i) => `${each.name} ${bytes(result.lists[i].bytes)}`).join(", ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars of memory: ${said}; items ${bytes(result.items)}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
