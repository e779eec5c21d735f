// DPhyp under a reader's hands: native/kernels/join_order, compiled to WebAssembly.

// What `run` (native/kernels/join_order/wasm.cpp) leaves in memory, in its order.
const TOTALS = ["sets", "pairs", "calls", "dpsize", "dpsub", "at", "left", "right", "closed", "edges", "plan_nodes", "cost"];
const EDGES_AT = 16;
const PLAN_AT = EDGES_AT + 2 * 28;
const VALUES = PLAN_AT + 3 * 15;

const SHAPES = ["chain", "cycle", "star", "clique"];
const NONE = 99;
const letter = (node) => "ABCDEFGH"[node];
const names = (set) => Array.from({ length: 8 }, (_, i) => i).filter((i) => (set >> i) & 1).map(letter).join("");

// Okabe-Ito, and a pattern each for who does not see the colours apart.
const ROLES = [
  { name: "left set", colour: "#56B4E9", pattern: "" },
  { name: "right set, its complement", colour: "#E69F00", pattern: "M0 8 L8 0" },
  { name: "forbidden to both", colour: "#999999", pattern: "M0 0 L8 8 M0 8 L8 0" },
  { name: "not in this pair", colour: "none", pattern: "" },
];

export default {
  title: "Join enumeration, pair by pair",

  inputs: [
    { name: "shape", label: "Query graph", isChoice: true, values: [0, 1, 2, 3], start: 0, format: (shape) => SHAPES[shape] },
    { name: "tables", label: "Tables", values: [2, 3, 4, 5, 6, 7, 8], start: 5, format: (n) => `${count(n)} tables` },
    {
      name: "chords", label: "Further joins", values: [0, 1, 2, 3, 4, 5, 6], start: 0,
      format: (n) => (n ? `${count(n)} more, where none is yet` : "none"),
    },
    {
      name: "step", label: "Pair", plays: "Play the pairs", values: Array.from({ length: 100 }, (_, i) => i), start: 11,
      format: (step) => `number ${count(step + 1)}`,
    },
    {
      name: "large", label: "Large table", values: [NONE, 0, 1, 2, 3, 4, 5, 6, 7], start: 99,
      format: (table) => (table === NONE ? "none, all have 100 rows" : `${letter(table)} has 100,000 rows`),
    },
  ],

  presets: [
    { label: "A star of eight", values: { shape: 2, tables: 8 } },
    { label: "A clique of eight", values: { shape: 3, tables: 8 } },
    { label: "A bushy plan", values: { tables: 8, large: 4 } },
  ],

  compute(kernel, inputs) {
    const address = kernel.run(inputs.shape, inputs.tables, inputs.chords, inputs.step, inputs.large);
    const values = new Uint32Array(kernel.memory.buffer, address, VALUES);
    const result = { inputs, ...Object.fromEntries(TOTALS.map((name, i) => [name, values[i]])) };
    result.joins = Array.from({ length: result.edges }, (_, k) => [values[EDGES_AT + 2 * k], values[EDGES_AT + 2 * k + 1]]);
    const node = (i) => Array.from(values.slice(PLAN_AT + 3 * i, PLAN_AT + 3 * i + 3));
    const tree = (i) => {
      const [tables, left, right] = node(i);
      return left > 100 ? names(tables) : `(${tree(left)} ${tree(right)})`;
    };
    result.plan = tree(result.plan_nodes - 1);
    return result;
  },

  question: {
    draw: (pick) => ({ shape: pick([0, 1, 2, 3]), tables: pick([3, 4, 5, 6, 7, 8]), chords: 0, step: 0 }),
    ask: ({ inputs }) => `The query graph is a ${SHAPES[inputs.shape]} of ${count(inputs.tables)} tables. How many pairs of connected sets does DPhyp find?`,
    choices: ({ pairs, sets, dpsub, inputs }) => {
      const near = [pairs, sets, dpsub, 2 ** inputs.tables - 1, inputs.tables * (inputs.tables - 1)];
      return [...new Set(near)].sort((one, other) => one - other).map(count);
    },
    right: ({ pairs }) => count(pairs),
  },

  results(result) {
    return [
      ["Connected sets", count(result.sets)],
      ["Pairs", count(result.pairs)],
      ["Reports, one per pair and join", count(result.calls)],
      ["DPsize looks at", `${count(result.dpsize)} candidates`],
      ["DPsub looks at", `${count(result.dpsub)} candidates`],
      ["Best plan", result.plan],
      ["Its intermediate rows", count(result.cost)],
    ];
  },

  sentence(result) {
    const forbidden = names(result.closed);
    return `Pair ${count(result.at + 1)} of ${count(result.pairs)}: {${names(result.left)}} with {${names(result.right)}}. ` +
      (forbidden ? `Forbidden to both: ${forbidden}. ` : "Nothing is forbidden. ") +
      `Best plan: ${result.plan}.`;
  },

  picture(result, width, id) {
    const n = result.inputs.tables;
    const height = 330;
    const [x0, y0, radius] = [width / 2, 140, Math.min(110, width / 2 - 30)];
    const at = (i) => {
      const angle = (2 * Math.PI * i) / n - Math.PI / 2;
      return [x0 + radius * Math.cos(angle), y0 + radius * Math.sin(angle)];
    };
    const role = (i) => ((result.left >> i) & 1 ? 0 : (result.right >> i) & 1 ? 1 : (result.closed >> i) & 1 ? 2 : 3);
    const joined = ([a, b]) => (role(a) === 0 && role(b) === 1) || (role(a) === 1 && role(b) === 0);
    const parts = [];
    for (const join of result.joins) {
      const [[ax, ay], [bx, by]] = join.map(at);
      parts.push(`<line x1="${ax.toFixed(1)}" y1="${ay.toFixed(1)}" x2="${bx.toFixed(1)}" y2="${by.toFixed(1)}" stroke="currentColor" stroke-width="${joined(join) ? 5 : 1.2}"/>`);
    }
    const disc = (x, y, r, which) => {
      parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}" fill="var(--pst-color-background, #fff)"/>`);
      for (const fill of [ROLES[which].colour, ROLES[which].pattern && `url(#${id}-r${which})`].filter(Boolean)) {
        parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}" fill="${fill}" stroke="currentColor" stroke-width="1.2"/>`);
      }
    };
    for (let i = 0; i < n; i += 1) {
      const [x, y] = at(i);
      disc(x, y, 17, role(i));
      const ink = role(i) < 3 ? "#000" : "currentColor";
      parts.push(`<text x="${x.toFixed(1)}" y="${(y + 5).toFixed(1)}" text-anchor="middle" font-weight="700" fill="${ink}">${letter(i)}</text>`);
    }
    ROLES.forEach((each, i) => {
      const [x, y] = [width > 480 ? (i % 2) * (width / 2) : 0, 284 + (width > 480 ? Math.floor(i / 2) * 24 : 0)];
      const row = width > 480 ? y : 272 + i * 17;
      disc(x + 9, row, 7, i);
      parts.push(`<text x="${x + 24}" y="${row + 4}">${each.name}</text>`);
    });
    const patterns = ROLES.map((each, i) => each.pattern &&
      `<pattern id="${id}-r${i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${each.pattern}" stroke="#000" stroke-opacity="0.45" fill="none"/></pattern>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="A query graph of ${n} tables. Left set ${names(result.left)}, right set ${names(result.right)}, forbidden ${names(result.closed) || "nothing"}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
