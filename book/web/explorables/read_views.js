// Which version of a row a read shows, rule by rule: native/transactions and native/kernels/read_views, compiled to WebAssembly.

const LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ"];
const NAMES = ["one after the other", "begun early, changed late", "inserted, deleted, inserted again", "the reader changes it, too"];
const SESSIONS = ["A", "B", "C", "D", "R"];
const EVENTS = 11; // of each history
const MOST_VERSIONS = 5;
const MOST_COUNTER = 11;
const [SHOWN, HIDDEN] = ["#56B4E9", "#E69F00"];

const lines = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n").map((line) => line.split("\t"));
};
const nameOf = (who) => (who === "L" ? "loaded" : who === "R" ? "the reader" : who);

/** Why a version is shown or hidden, as the rule that decided has it. */
function why({ id, rule, is_shown }, view) {
  const verdict = is_shown ? "shown" : "hidden";
  if (!view) return is_shown ? "the newest: shown, no view is asked" : "";
  return [
    "",
    `rule 1: ${id} is below up_limit_id: ${verdict}`,
    `rule 2: ${id} is its own: ${verdict}`,
    `rule 3: ${id} is not below low_limit_id: ${verdict}`,
    `rule 4: ${id} is ${is_shown ? "not " : ""}among the ids: ${verdict}`,
  ][rule];
}

export default {
  title: "Which version a read shows, rule by rule",

  inputs: [
    { name: "step", label: "Step", plays: "Play the steps", values: [0, 1, 2, 3, 4, 5], start: 2, format: (step) => (step ? `up to version ${count(step)}` : "before the first version") },
    { name: "moment", label: "First read", values: Array.from({ length: EVENTS + 1 }, (_, i) => i), start: 7, format: (n) => (n ? `after event ${count(n)}` : "before all events") },
    { name: "level", label: "Isolation level of the reader", isChoice: true, values: [0, 1, 2], start: 2, format: (level) => LEVELS[level] },
    { name: "history", label: "History", values: [0, 1, 2, 3], start: 1, format: (history) => NAMES[history] },
  ],

  compute(kernel, inputs) {
    const result = { inputs, events: [], view: null, versions: [], histories: lines(kernel, kernel.histories()).map(([name]) => name) };
    for (const [what, ...texts] of lines(kernel, kernel.run(inputs.history, inputs.level, inputs.moment))) {
      const numbers = texts.map(Number);
      const letter = (at) => String.fromCharCode(numbers[at]);
      if (what === "event") result.events.push({ what: letter(0), who: letter(1), id: numbers[2], no: numbers[3] });
      if (what === "view") {
        const [low_limit_id, up_limit_id, creator_id, low_limit_no, ...ids] = numbers;
        result.view = { low_limit_id, up_limit_id, creator_id, low_limit_no, ids };
      }
      if (what === "version") {
        const [, id, value, is_deleted, rule, is_shown] = numbers;
        result.versions.push({ who: letter(0), id, value, is_deleted: is_deleted === 1, rule, is_shown: is_shown === 1 });
      }
      if (what === "found") result.found = { is_there: numbers[0] === 1, value: numbers[1], steps: numbers[2] };
      if (what === "counter") result.counter = numbers[0];
    }
    result.asked = result.versions.filter((version) => version.rule || version.is_shown).length;
    result.judged = Math.min(inputs.step, result.asked);
    return result;
  },

  question: {
    draw: (pick) => ({ history: pick([0, 1, 2, 3]), level: pick([0, 1, 2]), moment: pick(Array.from({ length: EVENTS + 1 }, (_, i) => i)), step: MOST_VERSIONS }),
    ask: ({ inputs, events }) => {
      const verbs = { b: "begins", w: "changes the row", x: "deletes the row", c: "commits" };
      let value = inputs.history === 2 ? 0 : 10;
      const told = events.map(({ what, who }) => `${nameOf(who)} ${verbs[what]}${what === "w" ? ` to ${(value += 10)}` : what === "x" ? ((value += 10), "") : ""}`);
      const begin = inputs.history === 2 ? "There is no row yet." : "A loaded row has the value 10.";
      const first = inputs.moment ? `after event ${count(inputs.moment)}` : "before event 1";
      return `${begin} ${told.map((event, i) => `${i + 1}: ${event}`).join("; ")}. The reader, ${LEVELS[inputs.level]}, reads ${first} and again at the end. What does the second read see?`;
    },
    choices: ({ versions }) => [...[...versions].reverse().filter((version) => !version.is_deleted).map(({ value }) => `value ${count(value)}`), "no row"],
    right: ({ found }) => (found.is_there ? `value ${count(found.value)}` : "no row"),
  },

  results({ view, versions, judged, asked, found }) {
    const is_done = judged === asked;
    const last = versions[judged - 1];
    return [
      ["The view's low_limit_id", view ? count(view.low_limit_id) : "no view"],
      ["Its up_limit_id", view ? count(view.up_limit_id) : "no view"],
      ["Its ids", view ? view.ids.join(", ") || "none" : "no view"],
      ["Its own id", view ? count(view.creator_id) : "no view"],
      ["Rule that decides", last ? last.rule ? `${count(last.rule)}` : "none" : "none yet"],
      ["Versions built", count(Math.min(judged ? judged - (is_done && last.is_shown ? 1 : 0) : 0, found.steps))],
      ["The read sees", !is_done ? "not known yet" : found.is_there ? `value ${count(found.value)}` : "no row"],
    ];
  },

  sentence(result) {
    const { view, versions, judged, asked, found } = result;
    const last = versions[judged - 1];
    if (!last) return `${view ? `The view has low_limit_id ${view.low_limit_id}, up_limit_id ${view.up_limit_id} and the ids ${view.ids.join(", ") || "of no transaction"}` : "There is no view"}. No version is judged yet.`;
    const end = judged < asked ? "" : found.is_there ? ` The read sees value ${count(found.value)}.` : " The read sees no row.";
    return `Version ${count(judged)} was written by ${nameOf(last.who)}; ${why(last, view)}.${end}`;
  },

  picture(result, width, id) {
    const { events, view, versions, judged, asked, inputs, counter } = result;
    const parts = [];
    const paper = "var(--pst-color-background, #fff)";
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${more}>${what}</text>`);
    const rect = (x, y, w, h, more) => parts.push(`<rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="${h}" ${more}/>`);
    /** A box in two channels: colour, and stripes where it is hidden. */
    const judgedBox = (x, y, w, h, is_shown, more = "") => {
      rect(x, y, w, h, `fill="${is_shown ? SHOWN : HIDDEN}"`);
      if (!is_shown) rect(x, y, w, h, `fill="url(#${id}-hidden)"`);
      rect(x, y, w, h, `fill="none" stroke="currentColor" ${more}`);
    };

    // What happened: a lane for each session, a column for each event.
    const [left, lane, top] = [62, 21, 44];
    const x = (at) => left + 8 + (at / EVENTS) * (width - left - 22);
    text(0, 14, "What happened", 'font-weight="700"');
    for (let at = 1; at <= EVENTS; at += 1) text(x(at), 34, count(at), 'text-anchor="middle" font-size="11"');
    const end = top + SESSIONS.length * lane;
    SESSIONS.forEach((session, i) => {
      const y = top + i * lane + 12;
      const mine = events.map((event, at) => ({ ...event, at: at + 1 })).filter((event) => event.who === session);
      text(0, y + 4, session === "R" ? (mine.length ? `R, id ${mine[0].id}` : "R reads") : mine.length ? `${session}, id ${mine[0].id}` : session);
      if (!mine.length) return;
      const commits = mine.find((event) => event.what === "c");
      parts.push(`<line x1="${x(mine[0].at).toFixed(1)}" y1="${y}" x2="${(commits ? x(commits.at) : x(EVENTS) + 10).toFixed(1)}" y2="${y}" stroke="currentColor" stroke-width="2"/>`);
      for (const event of mine) {
        const at = x(event.at);
        if (event.what === "b") parts.push(`<circle cx="${at.toFixed(1)}" cy="${y}" r="4" fill="${paper}" stroke="currentColor" stroke-width="2"/>`);
        if (event.what === "c") parts.push(`<path d="M${at.toFixed(1)} ${y - 7} v14" stroke="currentColor" stroke-width="3"/>`);
        if (event.what === "w") rect(at - 5, y - 5, 10, 10, 'fill="currentColor"');
        if (event.what === "x") parts.push(`<path d="M${(at - 5).toFixed(1)} ${y - 5} l10 10 m0 -10 l-10 10" stroke="currentColor" stroke-width="3"/>`);
      }
    });
    const made = inputs.level === 1 ? x(EVENTS) + 10 : x(inputs.moment + 0.5);
    if (view) {
      parts.push(`<path d="M${made.toFixed(1)} 38 V${end + 4}" stroke="currentColor" stroke-width="2" stroke-dasharray="5 3"/>`);
      text(Math.min(Math.max(made, 50), width - 46), end + 18, "view made", 'text-anchor="middle" font-size="12"');
    }
    text(0, end + 38, "Circle: begins to write; square: changes the row;", 'font-size="12"');
    text(0, end + 53, "cross: deletes it; bar: commits. Dashed: the view.", 'font-size="12"');

    // The counter, as the view sees it.
    const line = end + 84;
    const cell = (width - 2) / MOST_COUNTER;
    text(0, line, "Ids, as the view judges them", 'font-weight="700"');
    const ids = new Set([...events.map((event) => event.id), ...versions.map((version) => version.id)]);
    for (let each = 1; each < counter; each += 1) {
      const at = 1 + (each - 1) * cell;
      if (!ids.has(each)) {
        rect(at, line + 10, cell, 24, 'fill="none" stroke="currentColor" stroke-opacity="0.4"');
        text(at + cell / 2, line + 26, "no.", 'text-anchor="middle" font-size="11" fill-opacity="0.7"');
      } else if (view) {
        const is_shown = each < view.up_limit_id || each === view.creator_id || (each < view.low_limit_id && !view.ids.includes(each));
        judgedBox(at, line + 10, cell, 24, is_shown);
        text(at + cell / 2, line + 27, each, 'text-anchor="middle" font-weight="700" fill="#000"');
      } else {
        rect(at, line + 10, cell, 24, 'fill="none" stroke="currentColor"');
        text(at + cell / 2, line + 27, each, 'text-anchor="middle" font-weight="700"');
      }
    }
    if (view) {
      const limits = [["low_limit_id", view.low_limit_id, line + 54], ["up_limit_id", view.up_limit_id, line + 72]];
      const at = (limit) => 1 + (limit - 1) * cell;
      for (const [, limit, y] of limits) parts.push(`<path d="M${at(limit).toFixed(1)} ${line + 4} V${y}" stroke="currentColor" stroke-width="2"/>`);
      for (const [name, limit, y] of limits) {
        const anchor = at(limit) > 0.75 * width ? "end" : "start";
        text(at(limit) + (anchor === "end" ? -6 : 6), y, name, `text-anchor="${anchor}" font-size="12" stroke="${paper}" stroke-width="4" paint-order="stroke"`);
      }
    }

    // The versions, the newest first.
    const list = line + 104;
    const [box, step] = [116, 34];
    text(0, list, "Versions of the row, newest first", 'font-weight="700"');
    versions.forEach((version, i) => {
      const y = list + 10 + i * step;
      const is_judged = i < judged;
      const now = i === judged - 1 ? 'stroke-width="3"' : "";
      if (is_judged) judgedBox(2, y, box, 26, version.is_shown, now);
      else rect(2, y, box, 26, 'fill="none" stroke="currentColor" stroke-dasharray="3 3"');
      const value = version.is_deleted ? "deleted" : `value ${version.value}`;
      text(10, y + 18, `${version.id} ${version.who === "L" ? "" : `(${version.who}) `}: ${value}`.replace(" :", ":"), is_judged ? 'fill="#000"' : "");
      if (i) parts.push(`<path d="M16 ${y - 8} v8" stroke="currentColor"/>`);
      const said = is_judged ? why(version, view) : i < asked ? "" : judged === asked ? "not asked" : "";
      const [rule, ...rest] = said.split(": ");
      if (width > 480 || !rest.length) text(box + 14, y + 18, said, 'font-size="12"');
      else {
        text(box + 10, y + 11, `${rule}: ${rest[1] ?? "shown"}`, 'font-size="12"');
        text(box + 10, y + 25, rest[1] ? rest[0] : "no view is asked", 'font-size="12"');
      }
    });
    const height = list + 10 + MOST_VERSIONS * step + 4;
    const pattern = `<pattern id="${id}-hidden" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M0 7 L7 0" stroke="#000" stroke-opacity="0.35"/></pattern>`;
    const said = versions.slice(0, judged).map((version) => `${nameOf(version.who)}, id ${version.id}: ${why(version, view)}`).join("; ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Transactions over time, the ids as the view judges them, and the versions of a row. Judged so far: ${said || "none"}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor"><defs>${pattern}</defs>${parts.join("")}</svg>`;
  },
};
