// Sessions at the latches of the transaction system, step by step: native/kernels/trx_sys, compiled to WebAssembly.

const DESIGNS = {
  "5.6": "5.6: one mutex, all are listed",
  "5.7": "5.7: one mutex",
  "8.0": "8.0 to 8.0.25: one mutex",
  "8.0, split": "no release: a second mutex, for numbers",
  "8.0, sharded": "8.0.26 and later: that and 256 shards",
};
const TRANSACTIONS = ["SELECT", "two SELECTs", "UPDATE", "SELECT, UPDATE"];
const SESSIONS = 5;
const COMPUTING_NS = 1500; // short, so that five sessions meet
const MOST_STEPS = 64;
const ROWS = ["trx_sys_mutex", "trx_sys_serialisation_mutex", "trx_sys_shard_mutex"];
const [RUNS, HAS, WAITS] = ["#56B4E9", "#009E73", "#E69F00"];

const lines = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n").map((line) => line.split("\t"));
};
const named = (session) => `T${session + 1}`;
const listed = (sessions) => sessions.map(named).join(sessions.length > 2 ? ", " : " and ");
const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${count(n)} times`);
const has = (design, row) => row === 0 || (row === 1 && design.includes("s")) || design === "8.0, sharded";

/** What a session does under a latch: its call, the row of the latch, and how often it has taken that in this call. */
function purpose(design, { call, row, nth }) {
  if (call === "begin") return "gets an id and enters the list, as every transaction of 5.6 does";
  if (call === "make_view") return "copies the active ids for its snapshot";
  if (call === "drop_view") return "unlinks its view from the list of views";
  if (call === "take_id") return row ? "enters its shard" : "gets an id and appends it to the active ids";
  if (call === "look_for_id") return "asks whether the last writer of its row is still active";
  if (call === "end") return "leaves the list";
  if (row === 2) return "leaves its shard: its row no longer counts as locked";
  if (row === 1) return nth === 1 ? "gets a number for its commit" : "leaves the list of those that commit";
  return !has(design, 1) && nth === 1 ? "gets a number for its commit" : "leaves the active ids: new snapshots show its change";
}

export default {
  title: "Sessions at the latches of the transaction system",

  inputs: [
    { name: "step", label: "Step", values: Array.from({ length: MOST_STEPS + 1 }, (_, i) => i), start: 9, plays: "Play the steps", format: (step) => (step ? `number ${count(step)}` : "before all") },
    { name: "design", label: "Version", values: Object.keys(DESIGNS), start: "5.7", format: (design) => DESIGNS[design] },
    { name: "transaction", label: "Each session runs", isChoice: true, values: TRANSACTIONS, start: "SELECT, UPDATE", format: (transaction) => transaction },
    { name: "open", label: "Other open transactions", values: [0, 100, 1000, 3000], start: 1000, format: (open) => (open ? `${count(open)} that have written` : "none") },
    { name: "seed", label: "Order of the sessions", values: [1, 2, 3, 4], start: 1, format: (seed) => `run ${count(seed)}` },
  ],
  presets: [
    { label: "5.6", values: { design: "5.6" } },
    { label: "256 shards", values: { design: "8.0, sharded" } },
  ],

  compute(kernel, inputs) {
    const at = (list, name) => lines(kernel, list).findIndex(([each]) => each === name);
    const calls = lines(kernel, kernel.calls()).map(([name]) => name);
    const address = kernel.run(at(kernel.latches(), inputs.design), at(kernel.transactions(), inputs.transaction), inputs.open, COMPUTING_NS, inputs.seed);
    const result = { inputs, events: [] };
    const nth = {};
    for (const [what, ...texts] of lines(kernel, address)) {
      const numbers = texts.map(Number);
      if (what === "taken") result.taken = numbers;
      if (what !== "step") continue;
      const [ns, session, latch, call, does] = numbers;
      const event = { ns, session, latch, row: Math.min(latch, 2), call: calls[call], does: ["waits", "takes", "leaves"][does] };
      const key = [session, event.call, event.row, result.events.filter((each) => each.session === session).findLastIndex((each) => each.call !== event.call)].join();
      if (event.does === "takes") nth[key] = (nth[key] ?? 0) + 1;
      result.events.push({ ...event, nth: nth[key] ?? 0 });
    }
    // A step ends where somebody waits or takes; who has left before is told with it.
    const stops = result.events.flatMap(({ does }, i) => (does === "leaves" ? [] : [i]));
    result.last = stops.length;
    result.at = Math.min(inputs.step, stops.length);
    // Behind the last one everybody leaves what is left.
    const end = result.at === 0 ? 0 : result.at === stops.length ? result.events.length : stops[result.at - 1] + 1;
    const begin = result.at < 2 ? 0 : stops[result.at - 2] + 1;
    result.happened = result.events.slice(begin, end);
    result.event = result.events[stops[result.at - 1]];
    result.ns = result.event?.ns ?? 0;
    result.counts = ROWS.map(() => ({ taken: 0, waits: 0 }));
    result.waited_ns = 0;
    result.sessions = Array.from({ length: SESSIONS }, () => ({ state: "begins", row: -1, latch: -1, since: 0 }));
    result.events.slice(0, end).forEach(({ session, latch, row, does, ns }) => {
      if (does === "takes") result.counts[row].taken += 1;
      if (does === "waits") result.counts[row].waits += 1;
      const before = result.sessions[session];
      if (before.state === "waits") result.waited_ns += ns - before.since;
      result.sessions[session] = does === "leaves" ? { state: "computes", row: -1, latch: -1, since: ns } : { state: does === "takes" ? "has" : "waits", row, latch, since: ns };
    });
    result.sessions.forEach((session, i) => {
      if (!result.events.slice(end).some((event) => event.session === i)) session.state = "has ended";
    });
    return result;
  },

  question: {
    draw: (pick) => ({ design: pick(Object.keys(DESIGNS)), transaction: pick(TRANSACTIONS), open: pick([0, 100, 1000]), seed: pick([1, 2, 3, 4]) }),
    shown: (inputs) => ({ ...inputs, step: MOST_STEPS }),
    fits: ({ taken }) => taken[0] % SESSIONS === 0,
    ask: ({ inputs }) => `${DESIGNS[inputs.design]}. ${count(SESSIONS)} sessions at READ COMMITTED run one transaction each: ${inputs.transaction}, then COMMIT. ` +
      `An UPDATE changes a row whose last writer has committed. ${inputs.open ? `${count(inputs.open)} older transactions have written and not ended` : "No other transaction is open"}. How often does each session take trx_sys_mutex?`,
    choices: () => [2, 3, 4, 5, 6].map((n) => times(n)),
    right: ({ taken }) => times(taken[0] / SESSIONS),
  },

  results({ at, last, ns, counts, waited_ns, inputs }) {
    return [
      ["Step", `${count(at)} of ${count(last)}`],
      ["Virtual time", `${(ns / 1000).toFixed(1)} us`],
      ...ROWS.map((name, row) => [`${name.replace("trx_sys_", "")}: taken, waited for`, has(inputs.design, row) ? `${count(counts[row].taken)}, ${count(counts[row].waits)}` : "not there"]),
      ["Waited so far, all together", `${(waited_ns / 1000).toFixed(1)} us`],
    ];
  },

  sentence(result) {
    const { event, happened, inputs, at, last, counts } = result;
    if (!event) return "Five sessions begin. No latch is taken.";
    const left = happened.filter((each) => each !== event && each.does === "leaves").map(({ session }) => session);
    const latch = `${ROWS[event.row]}${event.row === 2 ? ` of shard ${count(event.latch - 2)}` : ""}`;
    const said = event.does === "waits" ? `${named(event.session)} waits for ${latch}.` : `${named(event.session)} takes ${latch} and ${purpose(inputs.design, event)}.`;
    if (at === last) {
      const rows = ROWS.flatMap((name, row) => (counts[row].taken ? [`${name} ${times(counts[row].taken)}`] : []));
      return `All have ended. Together they took ${rows.join(", ")}; each took trx_sys_mutex ${times(counts[0].taken / SESSIONS)}.`;
    }
    return `${left.length ? `${listed([...new Set(left)])} ${new Set(left).size > 1 ? "let" : "lets"} go. ` : ""}${said}`;
  },

  picture(result, width, id) {
    const { sessions, inputs, counts } = result;
    const parts = [];
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${more}>${what}</text>`);
    const [wide, high, slot] = [Math.min(52, (width - 96) / 4 - 6), 28, 64];
    const chip = (session, x, y, fill, more = "") => parts.push(`<g data-moves="${named(session)}"><rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${high}" rx="6" fill="${fill}" stroke="currentColor" ${more}/>` +
      `<text x="${(x + wide / 2).toFixed(1)}" y="${y + 19}" text-anchor="middle" font-weight="700" fill="${fill === "none" ? "currentColor" : "#000"}">${named(session)}</text></g>`);

    // What the step is, in three lines at most.
    const words = [""];
    for (const word of this.sentence(result).split(" ")) {
      if (`${words.at(-1)} ${word}`.length > width / 7.6) words.push("");
      words[words.length - 1] = `${words.at(-1)} ${word}`.trim();
    }
    words.slice(0, 4).forEach((line, i) => text(0, 16 + 18 * i, line, 'font-weight="700"'));

    const top = 92;
    ROWS.forEach((name, row) => {
      const y = top + 66 * row;
      const is_there = has(inputs.design, row);
      text(0, y, name, is_there ? 'font-weight="700"' : 'font-style="italic"');
      text(width, y, is_there ? `taken ${times(counts[row].taken)}` : "not in this version", 'text-anchor="end" font-size="12"');
      const mine = sessions.map((session, i) => ({ ...session, i })).filter((session) => session.row === row);
      const [holds, waits] = ["has", "waits"].map((state) => mine.filter((session) => session.state === state).sort((a, b) => a.since - b.since));
      if (is_there) parts.push(`<rect x="1" y="${y + 8}" width="${slot}" height="${high + 8}" rx="6" fill="none" stroke="currentColor" stroke-dasharray="3 3"/>`);
      // Of shards several may be held at a time.
      holds.forEach(({ i }, k) => chip(i, 1 + (slot - wide) / 2 + k * (wide + 6), y + 12, HAS, 'stroke-width="3"'));
      const from = slot + 22 + Math.max(0, holds.length - 1) * (wide + 6);
      if (waits.length) parts.push(`<path d="M${from - 4} ${y + 26} h-14 m6 -5 l-6 5 l6 5" fill="none" stroke="currentColor" stroke-width="2"/>`);
      waits.forEach(({ i }, k) => chip(i, from + k * (wide + 6), y + 12, WAITS, 'stroke-dasharray="5 3"'));
    });
    const under = top + 66 * ROWS.length;
    text(0, under, "At no latch", 'font-weight="700"');
    text(width, under, "dashed: has ended", 'text-anchor="end" font-size="12"');
    const apart = Math.min(wide + 6, (width - wide - 2) / (SESSIONS - 1));
    sessions.forEach(({ state, row }, i) => {
      if (row < 0) chip(i, 1 + i * apart, under + 10, state === "has ended" ? "none" : RUNS, state === "has ended" ? 'stroke-dasharray="2 3"' : "");
    });
    // The key.
    const key = under + 58;
    [[HAS, "has the latch", 'stroke-width="3"'], [WAITS, "waits", 'stroke-dasharray="5 3"'], [RUNS, "computes", ""]].forEach(([fill, what, more], i) => {
      const x = 1 + [0, 0.4, 0.66][i] * width;
      parts.push(`<rect x="${x.toFixed(1)}" y="${key}" width="18" height="14" rx="3" fill="${fill}" stroke="currentColor" ${more}/>`);
      text(x + 24, key + 12, what, 'font-size="12"');
    });
    const height = key + 22;
    const told = sessions.map((session, i) => `${named(i)} ${session.row < 0 ? session.state : `${session.state === "has" ? "has" : "waits for"} ${ROWS[session.row]}`}`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${told.join("; ")}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">${parts.join("")}</svg>`;
  },
};
