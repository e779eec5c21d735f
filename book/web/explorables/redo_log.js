// The redo log under a reader's hands: native/kernels/redo_log on the simulated machine, compiled to WebAssembly.

// What `run` (native/kernels/redo_log/wasm.cpp) leaves in memory, in its order; the last six are times of all cores in us.
const TOTALS = ["hash", "events", "transactions", "fsyncs", "bytes", "work", "memory", "spin", "switching", "io", "idle"];
const PARTS = [
  { name: "work", label: "computing", colour: "#0072B2", pattern: "" },
  { name: "memory", label: "waiting for cache lines", colour: "#56B4E9", pattern: "M0 8 L8 0" },
  { name: "spin", label: "spinning", colour: "#D55E00", pattern: "M0 0 L8 8 M0 8 L8 0" },
  { name: "switching", label: "switching threads", colour: "#E69F00", pattern: "M0 4 L8 4" },
  { name: "rest", label: "idle, or for the disk", colour: "#BBBBBB", pattern: "" },
];
const OLD = "5.7";
const NEW = "8.0";
const WARMUP_US = 20000;

// Long enough for some hundred transactions, short enough for a tenth of a second.
const windowUs = (clients) => Math.max(10000, Math.round(120000 / Math.sqrt(clients)));
const time = (us) => (us < 1000 ? `${count(us)} us` : `${count(us / 1000)} ms`);
const two = (value) => value.toFixed(2);

/** The kernel's own table, in its order. */
function namesOfDesigns(kernel) {
  const text = new Uint8Array(kernel.memory.buffer, kernel.designs());
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n");
}

export default {
  title: "Fsyncs of three redo logs",

  inputs: [
    { name: "design", label: "Redo log", isChoice: true, values: [OLD, NEW, "8.0, writer threads off"], start: NEW, format: (design) => `of ${design}` },
    { name: "clients", label: "Clients", values: [1, 2, 3, 5, 10, 20, 50, 100], start: 3, format: (n) => count(n) },
    { name: "cores", label: "Cores", values: [2, 4, 8, 16, 32, 64], start: 16, format: (n) => count(n) },
    { name: "fsync_us", label: "One fsync", values: [20, 50, 100, 200, 500, 1000, 5000], start: 100, format: time },
    {
      name: "gate", label: "CPU gate", values: [0, 1], start: 1, isSwitch: true,
      format: (gate) => (gate ? "on: log threads spin above 80 % of a core" : "off: log threads always spin"),
    },
  ],

  presets: [
    { label: "One client, gate off", values: { clients: 1, gate: 0 } },
    { label: "Two cores", values: { cores: 2 } },
    { label: "100 clients, slow disk", values: { clients: 100, fsync_us: 5000 } },
  ],

  compute(kernel, inputs) {
    const names = namesOfDesigns(kernel);
    const run = (design) => {
      const us = windowUs(inputs.clients);
      const address = kernel.run(names.indexOf(design), inputs.clients, inputs.cores, inputs.fsync_us, inputs.gate, WARMUP_US, us);
      const values = new BigUint64Array(kernel.memory.buffer, address, TOTALS.length);
      const seen = Object.fromEntries(TOTALS.map((name, i) => [name, i ? Number(values[i]) : String(values[i])]));
      seen.rest = seen.io + seen.idle;
      seen.per_s = (seen.transactions * 1e6) / us;
      seen.each = seen.fsyncs / Math.max(1, seen.transactions);
      return seen;
    };
    const chosen = run(inputs.design);
    return { inputs, chosen, old: inputs.design === OLD ? chosen : run(OLD), hash: chosen.hash, ...chosen };
  },

  question: {
    draw: (pick) => ({ clients: pick([1, 2, 3, 5, 10, 20, 50]), cores: pick([2, 4, 8, 16]), fsync_us: pick([20, 50, 100, 200, 500, 1000]), gate: pick([0, 1]) }),
    ask: ({ inputs }) => `${count(inputs.clients)} ${inputs.clients === 1 ? "client commits" : "clients commit"} on ${count(inputs.cores)} cores, and an fsync takes ${time(inputs.fsync_us)}. ` +
      `The CPU gate is ${inputs.gate ? "on" : "off"}. How many fsyncs per transaction does the log of 8.0 make?`,
    choices: () => ["less than 0.4", "0.4 to 1.1", "more than 1.1"],
    right: ({ chosen: { each } }) => (each < 0.4 ? "less than 0.4" : each <= 1.1 ? "0.4 to 1.1" : "more than 1.1"),
  },

  results({ chosen, old, inputs }) {
    return [
      ["Fsyncs per transaction", two(chosen.each)],
      ["with the log of 5.7", two(old.each)],
      ["Transactions per second", count(Math.round(chosen.per_s))],
      ["against the log of 5.7", `${two(chosen.per_s / old.per_s)} times`],
      ["A transaction takes", `${two((1000 * inputs.clients) / Math.max(1, chosen.per_s))} ms`],
      ["Written per fsync", bytes(Math.round(chosen.bytes / Math.max(1, chosen.fsyncs)))],
      ["Events simulated", count(chosen.events + (inputs.design === OLD ? 0 : old.events))],
    ];
  },

  sentence({ chosen, old, inputs }) {
    const more = chosen.each / old.each;
    const compared = inputs.design === OLD ? "" :
      more > 1.05 ? ` That is ${two(more)} times as many as with the log of 5.7.` :
      more < 0.95 ? ` That is fewer than with the log of 5.7, which makes ${two(old.each)}.` :
      " That is as many as with the log of 5.7.";
    return `${count(inputs.clients)} ${inputs.clients === 1 ? "client" : "clients"}, ${count(inputs.cores)} cores, an fsync takes ` +
      `${time(inputs.fsync_us)}: the log of ${inputs.design} makes ${two(chosen.each)} fsyncs per transaction.${compared}`;
  },

  picture({ chosen, old, inputs }, width, id) {
    const rows = [
      { name: inputs.design, seen: chosen },
      { name: inputs.design === OLD ? NEW : OLD, seen: inputs.design === OLD ? null : old },
    ];
    const columns = width > 540 ? 3 : width > 350 ? 2 : 1;
    const height = columns > 1 ? 306 : 346;
    const parts = [`<text x="0" y="16" font-weight="700">Fsyncs per transaction</text>`];
    const most = Math.max(1, ...rows.map((row) => row.seen?.each ?? 0));
    const box = (x, y, w, h, part) => {
      for (const fill of [part.colour, part.pattern && `url(#${id}-${part.name})`].filter(Boolean)) {
        parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, w).toFixed(1)}" height="${h}" fill="${fill}"/>`);
      }
    };
    rows.forEach(({ name, seen }, i) => {
      const y = 26 + i * 40;
      parts.push(`<text x="0" y="${y + 12}">log of ${name}${seen ? `: ${two(seen.each)}` : ": choose another log to compare"}</text>`);
      if (seen) box(0, y + 17, (seen.each / most) * width, 11, { name: "fsyncs", colour: "#009E73", pattern: "" });
    });
    parts.push(`<text x="0" y="126" font-weight="700">Time of all cores</text>`);
    rows.forEach(({ name, seen }, i) => {
      const y = 136 + i * 40;
      if (!seen) return;
      parts.push(`<text x="0" y="${y + 12}">log of ${name}</text>`);
      const all = PARTS.reduce((sum, part) => sum + seen[part.name], 0);
      let x = 0;
      for (const part of PARTS) {
        const w = (seen[part.name] / all) * width;
        box(x, y + 17, w, 11, part);
        x += w;
      }
    });
    PARTS.forEach((part, i) => {
      const [x, y] = [(i % columns) * (width / columns), 228 + Math.floor(i / columns) * 24];
      box(x, y, 14, 14, part);
      parts.push(`<text x="${(x + 20).toFixed(1)}" y="${y + 12}">${part.label}</text>`);
    });
    const patterns = PARTS.filter((part) => part.pattern).map((part) =>
      `<pattern id="${id}-${part.name}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${part.pattern}" stroke="#000" stroke-opacity="0.45" fill="none"/></pattern>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars. Fsyncs per transaction with the log of ${rows[0].name}: ${two(chosen.each)}, of 5.7: ${two(old.each)}; below, the time of all cores by what they did." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
