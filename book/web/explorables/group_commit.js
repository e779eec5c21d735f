// Group commit under a reader's hands: native/kernels/group_commit on the simulated machine, compiled to WebAssembly.

// What `run` (native/kernels/group_commit/wasm.cpp) leaves in memory, in its order.
const TOTALS = ["hash", "events", "transactions", "redo_fsyncs", "binlog_fsyncs", "flush_groups", "sync_groups", "p50_ns", "p99_ns"];
const NEW = "5.7.6";
const DURABILITIES = { "1/1": [1, 1], "2/1000": [2, 1000], "0/0": [0, 0] };
const BARS = [
  { name: "fsyncs", label: "fsyncs per transaction", colour: "#009E73", of: (seen) => seen.each, form: (value) => value.toFixed(2) },
  { name: "rate", label: "transactions per second", colour: "#0072B2", of: (seen) => seen.per_s, form: (value) => count(Math.round(value)) },
  { name: "p99", label: "99 % of transactions take less than", colour: "#D55E00", of: (seen) => seen.p99_ms, form: (value) => `${value.toFixed(2)} ms` },
];
const WARMUP_US = 5000;

// Some sixty commits of a client that waits for both logs and the delay; about a tenth of a second of computing.
const windowUs = (durability, fsync_us, delay_us) => (durability === "1/1" ? Math.max(8000, 60 * (2 * fsync_us + delay_us)) : 8000);
const time = (us) => (us < 1000 ? `${count(us)} us` : `${count(us / 1000)} ms`);

/** The kernel's own table, in its order. */
function namesOfDesigns(kernel) {
  const text = new Uint8Array(kernel.memory.buffer, kernel.designs());
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n");
}

export default {
  title: "Three ways to commit in two logs",

  inputs: [
    { name: "clients", label: "Clients", values: [1, 2, 4, 8, 16, 32, 64], start: 32, format: (n) => count(n) },
    { name: "fsync_us", label: "One fsync", values: [20, 50, 100, 200, 500, 1000, 5000], start: 1000, format: time },
    { name: "delay_us", label: "Delay", values: [0, 50, 100, 250, 500, 1000, 5000], start: 0, format: (us) => (us ? `${time(us)} before each binlog sync of 5.7.6` : "none") },
    {
      name: "durability", label: "Flush at commit/sync_binlog", isChoice: true, values: Object.keys(DURABILITIES), start: "1/1",
      format: (name) => name,
    },
  ],

  presets: [
    { label: "One client", values: { clients: 1 } },
    { label: "A fast disk", values: { fsync_us: 20 } },
    { label: "A delay", values: { delay_us: 1000 } },
  ],

  compute(kernel, inputs) {
    const [flush, sync] = DURABILITIES[inputs.durability];
    const run = (design, i) => {
      const delay_us = design === NEW ? inputs.delay_us : 0;
      const us = windowUs(inputs.durability, inputs.fsync_us, delay_us);
      const address = kernel.run(i, inputs.clients, inputs.fsync_us, delay_us, flush, sync, WARMUP_US, us);
      const values = new BigUint64Array(kernel.memory.buffer, address, TOTALS.length);
      const seen = Object.fromEntries(TOTALS.map((name, at) => [name, at ? Number(values[at]) : String(values[at])]));
      const n = Math.max(1, seen.transactions);
      return {
        ...seen,
        design,
        each: (seen.redo_fsyncs + seen.binlog_fsyncs) / n,
        per_s: (seen.transactions * 1e6) / us,
        flush_group: seen.transactions / Math.max(1, seen.flush_groups),
        sync_group: seen.transactions / Math.max(1, seen.sync_groups),
        p50_ms: seen.p50_ns / 1e6,
        p99_ms: seen.p99_ns / 1e6,
      };
    };
    const all = namesOfDesigns(kernel).map(run);
    return { inputs, all, hash: all.map((seen) => seen.hash).join(" ") };
  },

  question: {
    draw: (pick) => ({ clients: pick([1, 2, 4, 8, 16, 32, 64]), fsync_us: pick([20, 100, 500, 1000]), delay_us: pick([0, 0, 250, 1000]), durability: "1/1" }),
    ask: ({ inputs }) => `${count(inputs.clients)} ${inputs.clients === 1 ? "client commits" : "clients commit"} in both logs, an fsync takes ${time(inputs.fsync_us)}, and ` +
      `${inputs.delay_us ? `each binlog sync waits ${time(inputs.delay_us)}` : "nothing delays a sync"}. Since 5.7.6, how many fsyncs does a transaction cost?`,
    choices: () => ["less than 0.2", "0.2 to 1", "more than 1"],
    right({ all }) {
      const { each } = all.find(({ design }) => design === NEW);
      return each < 0.2 ? "less than 0.2" : each <= 1 ? "0.2 to 1" : "more than 1";
    },
  },

  results({ all }) {
    const seen = all.find(({ design }) => design === NEW);
    const before = all[all.indexOf(seen) - 1];
    return [
      ["5.7.6: members of a FLUSH group", seen.flush_group.toFixed(1)],
      ["Members of a SYNC group", seen.sync_group.toFixed(1)],
      ["Fsyncs per transaction", seen.each.toFixed(2)],
      ["Transactions per second", count(Math.round(seen.per_s))],
      [`against ${before.design}`, `${(seen.per_s / Math.max(1, before.per_s)).toFixed(2)} times`],
      ["Half of transactions take less than", `${seen.p50_ms.toFixed(2)} ms`],
      ["99 % take less than", `${seen.p99_ms.toFixed(2)} ms`],
      ["Events simulated", count(all.reduce((sum, each) => sum + each.events, 0))],
    ];
  },

  sentence({ all, inputs }) {
    const seen = all.find(({ design }) => design === NEW);
    const before = all[all.indexOf(seen) - 1];
    return `${count(inputs.clients)} ${inputs.clients === 1 ? "client" : "clients"}, an fsync of ${time(inputs.fsync_us)}: since 5.7.6 a SYNC group has ` +
      `${seen.sync_group.toFixed(1)} members, and a transaction costs ${seen.each.toFixed(2)} fsyncs; in 5.6 ${before.each.toFixed(2)}.`;
  },

  picture({ all }, width, id) {
    const height = BARS.length * 108;
    const parts = [];
    BARS.forEach((bar, nth) => {
      const top = nth * 108;
      parts.push(`<text x="0" y="${top + 15}" font-weight="700">${bar.label[0].toUpperCase()}${bar.label.slice(1)}</text>`);
      const most = Math.max(1e-9, ...all.map(bar.of));
      all.forEach((seen, i) => {
        const y = top + 24 + i * 24;
        const w = (bar.of(seen) / most) * Math.max(10, width - 150);
        parts.push(`<text x="0" y="${y + 13}">${seen.design}</text>`);
        parts.push(`<rect x="48" y="${y + 1}" width="${w.toFixed(1)}" height="15" fill="${bar.colour}"/>`);
        if (seen.design === NEW) parts.push(`<rect x="48" y="${y + 1}" width="${w.toFixed(1)}" height="15" fill="url(#${id}-new)"/>`);
        parts.push(`<text x="${(54 + w).toFixed(1)}" y="${y + 13}">${bar.form(bar.of(seen))}</text>`);
      });
    });
    const said = all.map((seen) => `${seen.design} ${seen.each.toFixed(2)} fsyncs per transaction and ${count(Math.round(seen.per_s))} transactions per second`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars. ${said.join("; ")}." font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">` +
      `<defs><pattern id="${id}-new" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M0 8 L8 0" stroke="#000" stroke-opacity="0.45" fill="none"/></pattern></defs>` +
      `${parts.join("")}</svg>`;
  },
};
