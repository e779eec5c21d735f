// The redo log of 8.0 step by step: a run of native/kernels/redo_log, compiled to WebAssembly, looked at after every event.

// What `run` (native/kernels/redo_log/wasm_log_steps.cpp) leaves in memory, in its order; behind it client, start, end and outcome of each range.
const TOTALS = ["steps", "at", "now_ns", "reserved", "ready", "written", "flushed"];
const MOST_RANGES = 8;
const NO_CLIENT = 99;
const letter = (client) => "ABCD"[client];

const OUTCOMES = [
  { name: "reserved", text: "reserved, being copied", colour: "none", pattern: "M0 8 L8 0" },
  { name: "linked", text: "complete, the tail is not there yet", colour: "#E69F00", pattern: "M0 0 L8 8 M0 8 L8 0" },
  { name: "ready", text: "complete, no gap before it", colour: "#F0E442", pattern: "" },
  { name: "written", text: "written to the file", colour: "#56B4E9", pattern: "M0 4 L8 4" },
  { name: "flushed", text: "flushed", colour: "#009E73", pattern: "M4 0 L4 8" },
  { name: "told", text: "its client knows", colour: "#009E73", pattern: "" },
];
const POINTERS = [
  { name: "flushed", text: "flushed_to_disk_lsn" },
  { name: "written", text: "write_lsn" },
  { name: "ready", text: "tail of recent_written" },
  { name: "reserved", text: "next LSN" },
];
const SCALE_BYTES = 640;

export default {
  title: "Reservation, gaps and the link buffer, step by step",

  inputs: [
    {
      name: "step", label: "Step", plays: "Play the steps", values: Array.from({ length: 40 }, (_, i) => i), start: 5,
      format: (step) => `number ${count(step + 1)}`,
    },
    {
      name: "late", label: "Slow client", values: [0, 1, 2, 3, NO_CLIENT], start: 1,
      format: (late) => (late === NO_CLIENT ? "none" : `${letter(late)} is away between reservation and copy`),
    },
    {
      name: "writer_threads", label: "innodb_log_writer_threads", values: [0, 1], start: 1, isSwitch: true,
      format: (on) => (on ? "ON" : "OFF"),
    },
    { name: "seed", label: "Order of the clients", values: [1, 2, 3, 4, 5, 6], start: 1, format: (seed) => `run ${count(seed)}` },
  ],

  compute(kernel, inputs) {
    const address = kernel.run(inputs.seed, inputs.late, inputs.writer_threads, inputs.step);
    const values = new Uint32Array(kernel.memory.buffer, address, TOTALS.length + 4 * MOST_RANGES);
    const result = { inputs, ...Object.fromEntries(TOTALS.map((name, i) => [name, values[i]])) };
    result.ranges = [];
    for (let i = 0; i < MOST_RANGES; i += 1) {
      const [client, start, end, outcome] = values.slice(TOTALS.length + 4 * i, TOTALS.length + 4 * i + 4);
      if (client !== NO_CLIENT) result.ranges.push({ client, start, end, outcome });
    }
    return result;
  },

  results(result) {
    return [
      ["Step", `${count(result.at + 1)} of ${count(result.steps)}`],
      ["Virtual time", `${(result.now_ns / 1000).toFixed(1)} us`],
      ["Reserved", bytes(result.reserved)],
      ["Without a gap", bytes(result.ready)],
      ["Written", bytes(result.written)],
      ["Flushed", bytes(result.flushed)],
      ["Links that the tail has not followed", count(result.ranges.filter((range) => range.outcome === 1).length)],
    ];
  },

  sentence(result) {
    const by = OUTCOMES.map((_, outcome) => result.ranges.filter((range) => range.outcome === outcome).map((range) => letter(range.client)));
    const said = OUTCOMES.map((outcome, i) => by[i].length && `${by[i].join(", ")}: ${outcome.text}`).filter(Boolean);
    return `Step ${count(result.at + 1)} of ${count(result.steps)}. ${said.join("; ") || "Nothing is reserved yet"}.`;
  },

  picture(result, width, id) {
    const height = 332;
    const left = 8;
    const x = (lsn) => left + (lsn / SCALE_BYTES) * (width - 2 * left);
    const parts = [`<text x="0" y="16" font-weight="700">The log, by bytes from its start</text>`];
    const box = (at, y, w, h, which) => {
      const outcome = OUTCOMES[which];
      parts.push(`<rect x="${at.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="${h}" fill="var(--pst-color-background, #fff)"/>`);
      for (const fill of [outcome.colour, outcome.pattern && `url(#${id}-${outcome.name})`].filter(Boolean)) {
        parts.push(`<rect x="${at.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="${h}" fill="${fill}" stroke="currentColor" stroke-width="1"/>`);
      }
    };
    for (const range of result.ranges) {
      box(x(range.start), 28, x(range.end) - x(range.start), 36, range.outcome);
      const middle = (x(range.start) + x(range.end)) / 2;
      parts.push(`<circle cx="${middle.toFixed(1)}" cy="46" r="10" fill="var(--pst-color-background, #fff)"/>`);
      parts.push(`<text x="${middle.toFixed(1)}" y="51" text-anchor="middle" font-weight="700">${letter(range.client)}</text>`);
    }
    parts.push(`<line x1="${left}" y1="64" x2="${width - left}" y2="64" stroke="currentColor"/>`);
    POINTERS.forEach((pointer, i) => {
      const at = x(result[pointer.name]);
      const y = 92 + i * 24;
      const anchor = at > width / 2 ? "end" : "start";
      parts.push(`<path d="M${at.toFixed(1)} 66 L${at.toFixed(1)} ${y}" stroke="currentColor" stroke-dasharray="${i % 2 ? "3 3" : "none"}"/>`);
      parts.push(`<circle cx="${at.toFixed(1)}" cy="${y}" r="3"/>`);
      parts.push(`<text x="${(at + (anchor === "end" ? -8 : 8)).toFixed(1)}" y="${y + 4}" text-anchor="${anchor}" stroke="var(--pst-color-background, #fff)" stroke-width="4" paint-order="stroke">${pointer.text}</text>`);
    });
    const columns = width > 480 ? 2 : 1;
    OUTCOMES.forEach((outcome, i) => {
      const [at, y] = [(i % columns) * (width / columns), 196 + Math.floor(i / columns) * 22];
      box(at + 1, y, 16, 14, i);
      parts.push(`<text x="${at + 24}" y="${y + 12}">${outcome.text}</text>`);
    });
    const patterns = OUTCOMES.filter((outcome) => outcome.pattern).map((outcome) =>
      `<pattern id="${id}-${outcome.name}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${outcome.pattern}" stroke="currentColor" stroke-opacity="0.5" fill="none"/></pattern>`);
    const ranges = result.ranges.map((range) => `${letter(range.client)} ${OUTCOMES[range.outcome].text}`).join(", ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="The log as a row of ranges: ${ranges || "none yet"}. Bytes flushed ${result.flushed}, written ${result.written}, without a gap ${result.ready}, reserved ${result.reserved}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
