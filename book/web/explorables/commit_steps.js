// Group commit step by step: who leads, who follows, and what one fsync carries. A run of native/kernels/group_commit, compiled to
// WebAssembly; what happens in it is noted as it happens, and drawn up to the step that is asked for.

// What `trace` (native/kernels/group_commit/wasm.cpp) leaves in memory: Happening, Stage and Step of native/kernels/group_commit, by number.
const HAPPENING = ["reached", "leads", "ends", "follows", "delays", "told"];
const STAGE = ["FLUSH", "SYNC", "COMMIT"];
const STEP = ["begun", "prepared", "redo flushed", "partly written", "written", "synced", "committed", "acknowledged"];
const NUMBERS = 4;

const FSYNC_US = 1000;
const TRANSACTIONS = 2; // per client
const LONGEST_US = 40000;
const DESIGNS = ["5.5", "5.6", "5.7.6"]; // as the kernel numbers them; 5.5 has no stages
// Where a transaction stands, from top to bottom.
const PLACES = ["begun", "prepared", "FLUSH", "SYNC", "COMMIT", "told"];
const PLACE_TEXTS = {
  begun: "working", prepared: "prepared in the redo log", FLUSH: "FLUSH: redo flushed, binlog written", SYNC: "SYNC: binlog fsync",
  COMMIT: "COMMIT: in the engine, in order", told: "its client knows",
};
const COLOURS = { begun: "none", prepared: "#F0E442", FLUSH: "#E69F00", SYNC: "#56B4E9", COMMIT: "#CC79A7", told: "#009E73" };

const listed = (xids) => (xids.length > 1 ? `${xids.slice(0, -1).join(", ")} and ${xids.at(-1)}` : `${xids[0]}`);
const named = (xids) => `${xids.length > 1 ? "Transactions" : "Transaction"} ${listed(xids)}`;
const verb = (xids, one, several) => (xids.length > 1 ? several : one);

/** What happens, as read from memory; what repeats itself is left out. */
function happenings(kernel, inputs) {
  const address = kernel.trace(DESIGNS.indexOf(inputs.design), inputs.clients, FSYNC_US, inputs.delay_us, TRANSACTIONS, inputs.seed, LONGEST_US);
  const [amount] = new BigUint64Array(kernel.memory.buffer, address, 1);
  const values = new BigUint64Array(kernel.memory.buffer, address + 8, NUMBERS * Number(amount));
  const kept = [];
  const begun = new Set();
  for (let i = 0; i < Number(amount); i += 1) {
    const [ns, what, which, who] = values.slice(NUMBERS * i, NUMBERS * (i + 1));
    const xids = [];
    for (let xid = 1; xid < 64; xid += 1) if ((who >> BigInt(xid)) & 1n) xids.push(xid);
    const kind = HAPPENING[Number(what)];
    const is_step = kind === "reached" || kind === "told";
    const each = { ns: Number(ns), kind, which: (is_step ? STEP : STAGE)[Number(which)], xids };
    const last = kept.at(-1);
    if (kind === "reached" && each.which === "acknowledged") continue;
    if (kind === "reached" && each.which === "begun") {
      if (begun.has(xids[0])) continue;
      begun.add(xids[0]);
    }
    if (kind === "told" && last?.kind === "told" && last.ns === each.ns) last.xids.push(...xids);
    else if (!(kind === "delays" && last?.kind === "delays" && `${last.xids}` === `${xids}`)) kept.push(each);
  }
  return { kept, noted: Number(amount) };
}

/** Who stands where after `some` of what happens. */
function standing(some) {
  const place = new Map();
  const waits = new Set(); // in a stage's queue
  const leader = {}; // of a stage
  const led_by = new Map(); // the leader of each transaction's group
  let largest = 0;
  const move = (xid, to) => {
    for (const [each, by] of led_by) if (by === xid) place.set(each, to);
    place.set(xid, to);
  };
  for (const { kind, which, xids } of some) {
    if (kind === "reached" && which === "begun") place.set(xids[0], "begun");
    else if (kind === "reached" && which === "prepared") place.set(xids[0], "prepared");
    else if (kind === "leads") {
      leader[which] = xids[0];
      waits.delete(xids[0]);
      move(xids[0], which);
    } else if (kind === "follows") {
      move(xids[0], which);
      waits.add(xids[0]);
    } else if (kind === "ends") delete leader[which];
    else if (kind === "told") for (const xid of xids) place.set(xid, "told");
    else if (xids.length > 1 || leader[place.get(xids[0])] === xids[0]) {
      // The leader has fetched these from the queue.
      const by = leader[place.get(xids[0])] ?? xids[0];
      for (const xid of xids) {
        waits.delete(xid);
        led_by.set(xid, by);
        place.set(xid, place.get(by));
      }
      largest = Math.max(largest, xids.length);
    }
  }
  return { place, waits, leader, largest };
}

function said({ kind, which, xids }) {
  if (kind === "leads") return `Transaction ${xids[0]} finds the queue of ${which} empty: it leads.`;
  if (kind === "follows") return `Transaction ${xids[0]} enters the queue of ${which} behind another, and waits: a leader does its work.`;
  if (kind === "ends") return `The leader leaves ${which}; the next one may come in.`;
  if (kind === "delays") return `The leader of SYNC waits for more to join: it has ${listed(xids)}.`;
  if (kind === "told") return `${named(xids)} ${verb(xids, "is", "are")} told to ${verb(xids, "its client", "their clients")}.`;
  return {
    begun: `${named(xids)} makes its first change.`,
    prepared: `${named(xids)} has its prepare in the redo buffer.`,
    "redo flushed": `The redo log is on disk up to the ${verb(xids, "prepare", "prepares")} of ${listed(xids)}.`,
    "partly written": `The events of ${listed(xids)} are partly in the binlog's file.`,
    written: `The events of ${listed(xids)} are in the binlog's file.`,
    synced: `One fsync of the binlog, for ${listed(xids)}.`,
    committed: `${named(xids)} ${verb(xids, "is", "are")} committed in the engine.`,
  }[which];
}

export default {
  title: "Leaders, followers and one fsync, step by step",

  inputs: [
    { name: "step", label: "Step", plays: "Play the steps", values: Array.from({ length: 80 }, (_, i) => i), start: 33, format: (step) => `number ${count(step + 1)}` },
    { name: "clients", label: "Clients", values: [1, 2, 4, 6, 8], start: 6, format: (clients) => count(clients) },
    { name: "design", label: "Version", isChoice: true, values: DESIGNS.slice(1), start: "5.7.6", format: (design) => design },
    { name: "delay_us", label: "Delay before the fsync", values: [0, 500, 2000], start: 0, format: (us) => (us ? `${us / 1000} ms` : "none") },
    { name: "seed", label: "Order of the clients", values: [1, 2, 3, 4], start: 1, format: (seed) => `run ${count(seed)}` },
  ],

  compute(kernel, inputs) {
    const { kept: all, noted } = happenings(kernel, inputs);
    const at = Math.min(inputs.step, all.length - 1);
    const { place, waits, leader, largest } = standing(all.slice(0, at + 1));
    const standings = [...place].map(([xid, where]) => ({
      xid, where, leads: leader[where] === xid, waits: waits.has(xid),
    }));
    return { inputs, at, steps: all.length, noted, now_ns: all[at].ns, text: said(all[at]), standings, largest };
  },

  results(result) {
    const told = result.standings.filter((each) => each.where === "told").length;
    return [
      ["Step", `${count(result.at + 1)} of ${count(Math.min(result.steps, 80))}`],
      ["Virtual time", `${(result.now_ns / 1e6).toFixed(2)} ms`],
      ["Clients told", count(told)],
      ["Largest group so far", count(result.largest)],
    ];
  },

  sentence(result) {
    return `Step ${count(result.at + 1)}: ${result.text}`;
  },

  picture(result, width, id) {
    const [row, top, size] = [52, 52, 26];
    const height = top + row * PLACES.length + 34;
    const parts = [];
    const chip = (x, y, each) => {
      const fill = COLOURS[each.where];
      const dash = each.waits ? ` stroke-dasharray="3 3"` : "";
      parts.push(`<rect x="${x}" y="${y}" width="${size}" height="${size}" rx="5" fill="${fill}" fill-opacity="${each.waits ? 0.25 : 1}" stroke="currentColor" stroke-width="${each.leads ? 3 : 1}"${dash}/>`);
      const colour = fill === "none" || each.waits ? "currentColor" : "#111";
      parts.push(`<text x="${x + size / 2}" y="${y + 18}" text-anchor="middle" fill="${colour}" font-weight="${each.leads ? 700 : 400}">${each.xid}</text>`);
    };
    const words = result.text.split(" ");
    const lines = [""];
    for (const word of words) {
      if (`${lines.at(-1)} ${word}`.length > width / 8.4) lines.push("");
      lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
    }
    lines.slice(0, 2).forEach((line, i) => parts.push(`<text x="0" y="${16 + 18 * i}" font-weight="700">${line}</text>`));
    PLACES.forEach((where, i) => {
      const y = top + i * row;
      parts.push(`<line x1="0" y1="${y}" x2="${width}" y2="${y}" stroke="currentColor" stroke-opacity="0.3"/>`);
      parts.push(`<text x="0" y="${y + 15}" font-size="12">${PLACE_TEXTS[where]}</text>`);
      const here = result.standings.filter((each) => each.where === where);
      const step = Math.min(size + 6, (width - 4 - size) / Math.max(1, here.length - 1));
      here.forEach((each, n) => chip((2 + n * step).toFixed(1) * 1, y + 21, each));
    });
    const bottom = top + PLACES.length * row;
    parts.push(`<line x1="0" y1="${bottom}" x2="${width}" y2="${bottom}" stroke="currentColor" stroke-opacity="0.3"/>`);
    const key = width > 420 ? ["thick edge: leads its stage", "dashed: waits in its queue"] : ["thick: leads", "dashed: waits"];
    key.forEach((text, i) => {
      const x = 2 + (i * width) / 2;
      parts.push(`<rect x="${x}" y="${bottom + 11}" width="14" height="14" rx="3" fill="none" stroke="currentColor" stroke-width="${i ? 1 : 3}"${i ? ` stroke-dasharray="3 3"` : ""}/>`);
      parts.push(`<text x="${x + 21}" y="${bottom + 23}" font-size="12">${text}</text>`);
    });
    const where = PLACES.map((each) => {
      const here = result.standings.filter((one) => one.where === each).map((one) => one.xid);
      return here.length ? `${PLACE_TEXTS[each]}: ${listed(here)}` : "";
    }).filter(Boolean).join("; ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" id="${id}-stages" ` +
      `aria-label="${result.text} Transactions by place. ${where}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">${parts.join("")}</svg>`;
  },
};
