// Who waits for whom, how heavy each waiter is and who is granted first: native/kernels/lock_sys, compiled to WebAssembly.

const DESIGNS = ["5.7", "9.7"]; // as native/kernels/lock_sys/wasm_cats.cpp numbers them
const NAMES = ["who holds up most", "readers and a writer", "a deadlock", "passed by too often"];
const SESSIONS = 6;
const ROWS = ["A", "B", "C"];
const MOST_STEPS = 32;
const MOST_LAYERS = 6;
const [RUNS, LIGHT, HEAVY] = ["#009E73", "#56B4E9", "#E69F00"];

const lines = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n").map((line) => line.split("\t"));
};
const named = (session) => `T${session + 1}`;
const listed = (sessions) => sessions.map(named).join(sessions.length > 2 ? ", " : " and ");

function said(event) {
  if (!event) return "No transaction has begun.";
  const who = named(event.who);
  const got = event.granted.length ? ` ${listed(event.granted)} ${event.granted.length > 1 ? "go" : "goes"} on.` : "";
  const victim = event.victims.length ? ` ${listed(event.victims)} ${event.victims.length > 1 ? "are" : "is"} rolled back: a deadlock.` : "";
  if (event.what === "c") return `${who} commits.${victim}${got}`;
  const verb = event.what === "w" ? "changes" : "reads";
  const asks = event.waits || event.victims.includes(event.who);
  return `${asks ? `${who} asks for row ${event.row} and waits.` : `${who} ${verb} row ${event.row}.`}${victim}${got}`;
}

/** For each waiter the one below whom it is drawn: whom it notes as its blocker, or in 5.7, which notes no blocker, the last ahead of it. */
function edges({ sessions, waits }) {
  const ahead = (who) => waits.filter((wait) => wait.waiting === who).map((wait) => wait.blocking);
  const depth = (who) => Math.max(0, ...ahead(who).map((each) => 1 + depth(each)));
  const last = (who) => ahead(who).reduce((one, other) => (depth(other) > depth(one) ? other : one));
  return new Map(sessions.filter(({ waits: does }) => does).map(({ who, blocker }) => [who, blocker < 0 ? last(who) : blocker]));
}

export default {
  title: "Who waits for whom, and who is granted first",

  inputs: [
    { name: "step", label: "Step", plays: "Play the steps", values: Array.from({ length: MOST_STEPS + 1 }, (_, i) => i), start: 6, format: (step) => (step ? `after statement ${count(step)}` : "before all statements") },
    { name: "design", label: "Version", isChoice: true, values: [0, 1], start: 1, format: (design) => (design ? "9.7: the heaviest first" : "5.7: first in, first out") },
    { name: "history", label: "History", values: [0, 1, 2, 3], start: 0, format: (history) => NAMES[history] },
  ],

  compute(kernel, inputs) {
    const result = { inputs, events: [], sessions: [], waits: [], locks: [], histories: lines(kernel, kernel.histories()).map(([name]) => name) };
    for (const [what, ...texts] of lines(kernel, kernel.run(inputs.history, inputs.design, inputs.step))) {
      const numbers = texts.map(Number);
      const letter = (at) => String.fromCharCode(numbers[at]);
      if (what === "event") result.events.push({ what: letter(0), who: numbers[1], row: letter(2), waits: numbers[3] === 1, granted: [], victims: [] });
      if (what === "granted") result.events.at(-1).granted.push(numbers[0]);
      if (what === "victim") result.events.at(-1).victims.push(numbers[0]);
      if (what === "session") result.sessions.push({ who: numbers[0], is_open: numbers[1] === 1, waits: numbers[2] === 1, weight: numbers[3], blocker: numbers[4] - 1 });
      if (what === "wait") result.waits.push({ waiting: numbers[0], blocking: numbers[1] });
      if (what === "lock") result.locks.push({ who: numbers[0], row: letter(1), is_shared: numbers[2] === 1, waits: numbers[3] === 1 });
    }
    result.at = Math.min(inputs.step, result.events.length);
    result.text = said(result.events[result.at - 1]);
    return result;
  },

  question: {
    draw: (pick) => ({ history: pick([0, 1, 2, 3]), design: pick([0, 1]), step: pick(Array.from({ length: MOST_STEPS }, (_, i) => i)) }),
    shown: (inputs) => ({ ...inputs, step: inputs.step + 1 }),
    fits: ({ events, at, sessions }) => events[at]?.what === "c" && !events[at].victims.length && sessions.filter(({ waits }) => waits).length > 1,
    ask({ events, at, locks, inputs }) {
      const arrived = (lock) => events.slice(0, at).findLastIndex(({ who, row }) => who === lock.who && row === lock.row);
      const rows = ROWS.map((row) => [row, locks.filter((lock) => lock.row === row).sort((one, other) => arrived(one) - arrived(other))]).filter(([, mine]) => mine.length);
      const told = rows.map(([row, mine]) => `Row ${row}, in order of arrival: ${mine.map((lock) => `${named(lock.who)} ${lock.waits ? "waits" : "has it"}${lock.is_shared ? " (shared)" : ""}`).join(", ")}.`);
      return `${inputs.design ? "MySQL 9.7 grants to the heaviest first" : "MySQL 5.7 grants first in, first out"}. ${told.join(" ")} Now ${named(events[at].who)} commits. Who goes on?`;
    },
    choices: ({ sessions }) => [...sessions.filter(({ waits }) => waits).map(({ who }) => named(who)), "several at once", "none"],
    right({ events, at }) {
      const { granted } = events[at];
      return granted.length > 1 ? "several at once" : granted.length ? named(granted[0]) : "none";
    },
  },

  results({ at, events, sessions, inputs }) {
    const waiting = sessions.filter((session) => session.waits);
    const most = Math.max(0, ...waiting.map((session) => session.weight));
    const heaviest = waiting.filter((session) => session.weight === most);
    return [
      ["Step", `${count(at)} of ${count(events.length)}`],
      ["Transactions that wait", count(waiting.length)],
      ["Heaviest", !inputs.design ? "not weighed in 5.7" : !waiting.length ? "none waits" : most < 2 ? "all weigh 1" : `${listed(heaviest.map(({ who }) => who))}: ${count(most)}`],
    ];
  },

  sentence({ at, text, sessions, inputs }) {
    const weights = sessions.filter((session) => session.waits).map(({ who, weight }) => `${named(who)} ${count(weight)}`);
    return `Step ${count(at)}: ${text} ${inputs.design && weights.length ? `Weights: ${weights.join(", ")}.` : ""}`.trim();
  },

  picture(result, width, id) {
    const { events, at, sessions, locks, inputs, text: happened } = result;
    const parts = [];
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${more}>${what}</text>`);

    // What has just happened, in two lines at most.
    const words = [""];
    for (const word of happened.split(" ")) {
      if (`${words.at(-1)} ${word}`.length > width / 8) words.push("");
      words[words.length - 1] = `${words.at(-1)} ${word}`.trim();
    }
    words.slice(0, 2).forEach((line, i) => text(0, 16 + 18 * i, line, 'font-weight="700"'));

    // The graph: a transaction that runs is on top, each waiter below the one that it waits for.
    const [top, layer, wide, high] = [50, 46, Math.min(70, width / SESSIONS - 8), 26];
    const edge = edges(result);
    const depth = (who) => (edge.has(who) ? 1 + depth(edge.get(who)) : 0);
    const layers = Array.from({ length: MOST_LAYERS }, () => []);
    for (const session of sessions) if (session.is_open || session.waits) layers[depth(session.who)].push(session);
    const at_of = new Map();
    const above = ({ who }) => at_of.get(edge.get(who))?.x ?? 0;
    layers.forEach((here, level) => here.sort((a, b) => above(a) - above(b)).forEach((session, i) => {
      at_of.set(session.who, { x: ((i + 1) / (here.length + 1)) * width, y: top + level * layer, session });
    }));
    for (const [who, blocker] of edge) {
      const [from, to] = [at_of.get(who), at_of.get(blocker)];
      const lean = (to.x - from.x) * 0.18;
      parts.push(`<line x1="${(from.x + lean).toFixed(1)}" y1="${from.y}" x2="${(to.x - lean).toFixed(1)}" y2="${to.y + high + 2}" stroke="currentColor" stroke-width="2" marker-end="url(#${id}-arrow)"/>`);
    }
    const last = events[at - 1];
    for (const { x, y, session } of at_of.values()) {
      const fill = !session.waits ? RUNS : session.weight > 1 ? HEAVY : LIGHT;
      const is_new = last && (last.who === session.who || last.granted.includes(session.who));
      parts.push(`<rect x="${(x - wide / 2).toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${high}" rx="6" fill="${fill}" stroke="currentColor" stroke-width="${is_new ? 3 : 1}"${session.waits ? ' stroke-dasharray="5 3"' : ""}/>`);
      const label = session.waits && inputs.design ? `${named(session.who)}: ${session.weight}` : named(session.who);
      text(x, y + 18, label, 'text-anchor="middle" font-weight="700" fill="#000"');
    }
    if (!at_of.size) text(0, top + 18, at ? "No transaction is open." : "No transaction has begun.");

    // The queues, in the order in which their locks were asked for.
    const under = top + MOST_LAYERS * layer + 12;
    text(0, under, "Rows and their queues", 'font-weight="700"');
    const arrived = (who, row) => events.slice(0, at).findLastIndex((event) => event.who === who && event.row === row);
    const kind = (lock) => `${named(lock.who)}${lock.is_shared ? " (S)" : ""}`;
    ROWS.forEach((row, i) => {
      const mine = locks.filter((lock) => lock.row === row).sort((a, b) => arrived(a.who, row) - arrived(b.who, row));
      const [has, wait] = [false, true].map((waiting) => mine.filter((lock) => lock.waits === waiting).map(kind).join(", "));
      text(0, under + 22 + 20 * i, `${row}: ${has ? `${has} ${has.includes(",") ? "have" : "has"} it` : "free"}${wait ? `; ${wait} ${wait.includes(",") ? "wait" : "waits"}` : ""}`);
    });

    // The key.
    const key = under + 22 + 20 * ROWS.length + 6;
    const weighs = inputs.design === 1;
    const boxes = [[RUNS, "runs", ""], [LIGHT, weighs ? "waits, weight 1" : "waits", ' stroke-dasharray="5 3"'], ...(weighs ? [[HEAVY, "heavier", ' stroke-dasharray="5 3"']] : [])];
    boxes.forEach(([fill, what, dash], i) => {
      const x = 1 + [0, 0.22, 0.64][i] * width;
      parts.push(`<rect x="${x.toFixed(1)}" y="${key}" width="18" height="14" rx="3" fill="${fill}" stroke="currentColor"${dash}/>`);
      text(x + 24, key + 12, what, 'font-size="12"');
    });
    text(0, key + 34, `Arrow: ${weighs ? "the blocker that it notes" : "the last ahead of it"}. (S): for reading.`, 'font-size="12"');
    const height = key + 42;
    const arrow = `<marker id="${id}-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="currentColor"/></marker>`;
    const who = sessions.filter((session) => session.waits).map((session) => `${named(session.who)} waits for ${named(edge.get(session.who))}${weighs ? `, weight ${session.weight}` : ""}`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="${happened} ${who.length ? `${who.join("; ")}.` : "None waits."}" ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${arrow}</defs>${parts.join("")}</svg>`;
  },
};
