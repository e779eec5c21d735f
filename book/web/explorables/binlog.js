// What a setting makes of a transaction's bytes: native/kernels/binlog and zstd, compiled to WebAssembly.

// What `run` (native/kernels/binlog/wasm.cpp) leaves in memory for each row image, in its order.
const COUNTED = ["gtid", "begin_and_xid", "maps", "rows", "inside", "frames", "packed", "inside_crc", "frames_crc"];

// CPU time of compressing a byte at levels 1 to 22 in ns, the least of five repeats (own-binlog-levels, full images); and of a server's whole
// TPC-C transaction in us (own-binlog-cpu, full images, uncompressed). Measured beside other work. A test holds both against the recordings.
const NS_PER_BYTE = {
  orders: [2.671, 2.686, 3.614, 8.17, 9.906, 10.6, 12.16, 13.34, 17.47, 18.79, 35, 40.56, 54.19, 63.41, 279.8, 116.2, 231.7, 569.4, 575.5, 838.9, 775.6, 758.7],
  documents: [2.117, 2.285, 2.741, 2.839, 7.033, 8.399, 10.05, 11.54, 13.71, 16.66, 20.94, 20.11, 57.37, 70.74, 111.6, 228.7, 227.1, 222.9, 456.5, 473.6, 484, 479.8],
  digests: [3.993, 3.68, 5.672, 12, 12.25, 13.77, 18.09, 21.53, 25.63, 25.66, 29.46, 37.64, 42.24, 43.03, 42.87, 79.87, 79.81, 81.6, 80.18, 79.67, 80.68, 80.47],
};
const SERVER_US = 2670;

// How many transactions are written and packed, and which recorded rows they are like.
const KINDS = {
  new_order: { name: "New-Order of TPC-C", n: 4, like: "orders" },
  payment: { name: "Payment of TPC-C", n: 8, like: "orders" },
  delivery: { name: "Delivery of TPC-C", n: 1, like: "orders" },
  documents: { name: "insert of 100 JSON documents", n: 2, like: "documents" },
  digests: { name: "insert of 100 digests", n: 4, like: "digests" },
  counter: { name: "one counter beside 5 kB of text", n: 4, like: null },
};

// Okabe-Ito, and a pattern each for who does not see the colours apart.
const PARTS = [
  { part: "gtid", name: "GTID", colour: "#999999", pattern: "" },
  { part: "begin_and_xid", name: "BEGIN, XID", colour: "#F0E442", pattern: "M0 0 L8 8" },
  { part: "maps", name: "table maps", colour: "#E69F00", pattern: "M0 8 L8 0" },
  { part: "rows", name: "rows", colour: "#56B4E9", pattern: "" },
  { part: "payload", name: "compressed", colour: "#009E73", pattern: "M0 0 L8 8 M0 8 L8 0" },
];

const NOTE = "Height: orders of magnitude. Recorded with full images, beside other work; per byte, times the bytes of yours.";
const LETTER = 6.8; // px of a letter of the drawing's size, on average

const folded = (words, most) => words.split(" ").reduce((lines, word) => {
  const last = lines.at(-1);
  return last && last.length + 1 + word.length <= most ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
}, []);
const time = (us) => (us < 995 ? `${us.toFixed(us < 9.95 ? 1 : 0)} us` : `${(us / 1000).toFixed(us < 9950 ? 1 : 0)} ms`);
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
const names = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n");
};
const plain = (seen) => seen.gtid + seen.begin_and_xid + seen.maps + seen.rows;
const written = (seen, level) => (level ? seen.packed : plain(seen));
const cpuUs = (kind, level, inside) => (level && KINDS[kind].like ? (NS_PER_BYTE[KINDS[kind].like][level - 1] * inside) / 1000 : 0);

export default {
  title: "Row image and compression of a transaction",

  inputs: [
    { name: "kind", label: "Transaction", values: Object.keys(KINDS), start: "new_order", format: (kind) => KINDS[kind].name },
    { name: "image", label: "Row image", isChoice: true, values: ["full", "noblob", "minimal"], start: "full", format: (image) => image.toUpperCase() },
    {
      name: "level", label: "Compression", plays: "Play the levels", values: Array.from({ length: 23 }, (_, i) => i), start: 3,
      format: (level) => (level ? `zstd, level ${level}` : "off"),
    },
  ],

  presets: [
    { label: "Minimal images, uncompressed", values: { image: "minimal", level: 0 } },
    { label: "Both, for a Delivery", values: { kind: "delivery", image: "minimal" } },
    { label: "Digests at level 22", values: { kind: "digests", level: 22 } },
    { label: "A counter beside text", values: { kind: "counter", image: "minimal", level: 0 } },
  ],

  compute(kernel, inputs) {
    const { n } = KINDS[inputs.kind];
    const kind = names(kernel, kernel.examples()).indexOf(inputs.kind);
    const of_images = names(kernel, kernel.images());
    const address = kernel.run(kind, n, inputs.level);
    const values = new BigUint64Array(kernel.memory.buffer, address, of_images.length * COUNTED.length);
    const images = Object.fromEntries(of_images.map((image, i) => [image,
      Object.fromEntries(COUNTED.map((name, at) => [name, Number(values[i * COUNTED.length + at]) / (name.endsWith("crc") ? 1 : n)]))]));
    const seen = images[inputs.image];
    return {
      inputs, n, images, ...seen,
      plain: plain(seen),
      written: written(seen, inputs.level),
      first: plain(images.full),
      cpu_us: cpuUs(inputs.kind, inputs.level, seen.inside),
    };
  },

  question: {
    draw: (pick) => ({ kind: pick(Object.keys(KINDS)), image: pick(["full", "noblob", "minimal"]), level: pick([0, 1, 3, 9]) }),
    ask: ({ inputs }) => `${KINDS[inputs.kind].name}, binlog_row_image=${inputs.image.toUpperCase()}, ${inputs.level ? `compressed by zstd at level ${inputs.level}` : "not compressed"}. ` +
      "Which share of FULL and uncompressed is written?",
    choices: () => ["a fifth or less", "more than a fifth, at most a half", "more than a half"],
    right({ written: mine, first }) {
      return mine <= first / 5 ? "a fifth or less" : mine <= first / 2 ? "more than a fifth, at most a half" : "more than a half";
    },
  },

  results(seen) {
    const { kind, level } = seen.inputs;
    const cpu = !level ? "none" : !KINDS[kind].like ? "not recorded for such rows" : `${time(seen.cpu_us)} per transaction`;
    return [
      ["Bytes per transaction", count(seen.written)],
      ["without compression", count(seen.plain)],
      ["of these, all but rows", count(seen.plain - seen.rows)],
      ["Of FULL and uncompressed", percent(seen.written / seen.first)],
      ["CPU time of compressing, recorded", cpu],
      ["A TPC-C transaction in all, recorded", time(SERVER_US)],
    ];
  },

  sentence(seen) {
    const { kind, image, level } = seen.inputs;
    const cpu = !level || !KINDS[kind].like ? "" : ` Compressing takes about ${time(seen.cpu_us)} of CPU time.`;
    return `${KINDS[kind].name}, ${image.toUpperCase()}, ${level ? `zstd level ${level}` : "no compression"}: ${count(seen.written)} bytes per transaction, ` +
      `${percent(seen.written / seen.first)} of full images without compression.${cpu}`;
  },

  picture(seen, width, id) {
    const { kind, level } = seen.inputs;
    const parts = [];
    const text = (x, y, words, more = "") => parts.push(`<text x="${x}" y="${y}" ${more}>${words}</text>`);
    const filled = (x, y, wide, high, which) => {
      if (wide < 0.2) return;
      for (const fill of [PARTS[which].colour, PARTS[which].pattern && `url(#${id}-f${which})`].filter(Boolean)) {
        parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${high}" fill="${fill}" stroke="currentColor" stroke-width="0.7"/>`);
      }
    };
    text(0, 14, "Bytes per transaction", 'font-weight="600"');
    const most = Math.max(...Object.values(seen.images).map((one) => Math.max(plain(one), one.packed)));
    const room = width - 64;
    ["full", "noblob", "minimal"].forEach((image, i) => {
      const one = seen.images[image];
      const y = 22 + i * 66;
      const mine = image === seen.inputs.image;
      text(0, y + 14, `${mine ? "▸ " : ""}${image.toUpperCase()}`, mine ? 'font-weight="600"' : "");
      const bars = [[["gtid", one.gtid], ["begin_and_xid", one.begin_and_xid], ["maps", one.maps], ["rows", one.rows]]];
      if (level) bars.push([["payload", one.packed]]);
      bars.forEach((bar, nth) => {
        let x = 0.5;
        for (const [part, size] of bar) {
          const wide = (room * size) / most;
          filled(x, y + 20 + nth * 20, wide, 15, PARTS.findIndex((each) => each.part === part));
          x += wide;
        }
        text((x + 5).toFixed(1), y + 32 + nth * 20, count(nth ? one.packed : plain(one)));
      });
    });
    let x = 0.5;
    let y = 228;
    PARTS.forEach((part, i) => {
      const wide = 28 + 7.2 * part.name.length + 14;
      if (x + wide > width) [x, y] = [0.5, y + 20];
      filled(x, y, 20, 13, i);
      text(x + 26, y + 11, part.name);
      x += wide;
    });
    const top = 284;
    const base = top + 132;
    const step = (width - 2) / 22;
    text(0, top, "CPU time of compressing, by level", 'font-weight="600"');
    if (KINDS[kind].like && level) text(0, top + 18, `level ${level}: ${time(seen.cpu_us)}`);
    if (KINDS[kind].like) {
      const costs = Array.from({ length: 22 }, (_, i) => cpuUs(kind, i + 1, seen.inside));
      const [least, high] = [Math.min(...costs) / 2, Math.max(...costs)];
      costs.forEach((us, i) => {
        const tall = (80 * Math.log(us / least)) / Math.log(high / least);
        const mine = i + 1 === level;
        const at = (1 + i * step).toFixed(1);
        parts.push(`<rect x="${at}" y="${(base - tall).toFixed(1)}" width="${(step - 2).toFixed(1)}" height="${tall.toFixed(1)}" fill="${mine ? "#D55E00" : "#CC79A7"}" stroke="currentColor" stroke-width="${mine ? 2 : 0.5}"/>`);
      });
      [1, 10, 22].forEach((each) => text((1 + (each - 0.5) * step).toFixed(1), base + 15, each, 'text-anchor="middle"'));
    } else {
      text(0, top + 26, "Not recorded for such rows.");
    }
    const notes = folded(NOTE, Math.floor(width / LETTER));
    notes.forEach((line, i) => text(0, base + 33 + 17 * i, line));
    const patterns = PARTS.map((part, i) => part.pattern &&
      `<pattern id="${id}-f${i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${part.pattern}" stroke="#000" stroke-opacity="0.5" fill="none"/></pattern>`);
    const said = Object.entries(seen.images).map(([image, one]) => `${image} ${count(plain(one))}${level ? `, compressed ${count(one.packed)}` : ""}`).join("; ");
    const height = base + 24 + 17 * notes.length;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars of bytes per transaction. ${said}. Bars of the recorded CPU time of each level." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
