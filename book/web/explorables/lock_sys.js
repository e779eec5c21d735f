// A small table and two sessions, whose statements the reader types: native/kernels/lock_sys, compiled to WebAssembly.

const SESSIONS = ["A", "B"];
const COLUMNS = ["id", "k", "v"];
const INDEXES = ["PRIMARY", "k"];
const MOST_RECORDS = 8; // that the picture has room for
const MOST_STATEMENTS = 20;
const MOST_NUMBER = 1e6;
const COLOURS = ["#56B4E9", "#E69F00"];
const LETTER_PX = 6.4; // of twelve pixels' text, at most in the mean

const EXAMPLES = {
  "A gap": ["A: SELECT * FROM t WHERE id BETWEEN 15 AND 25 FOR UPDATE", "B: INSERT INTO t VALUES (26, 3, 0)"],
  "The end of a range": ["A: SELECT * FROM t WHERE id BETWEEN 15 AND 25 FOR UPDATE", "B: UPDATE t SET v = v + 1 WHERE id = 30"],
  "Opposite orders": [
    "A: UPDATE t SET v = v + 1 WHERE id = 10", "B: UPDATE t SET v = v + 1 WHERE id = 20",
    "A: UPDATE t SET v = v + 1 WHERE id = 20", "B: UPDATE t SET v = v + 1 WHERE id = 10",
  ],
  "A lock that no session asked for": ["A: INSERT INTO t VALUES (40, 9, 0)", "B: SELECT * FROM t WHERE id = 40 FOR UPDATE"],
  "By a secondary index": ["A: SELECT * FROM t WHERE k = 1 FOR UPDATE", "B: INSERT INTO t VALUES (25, 2, 0)"],
  "The whole table": ["A: UPDATE t SET v = v + 1", "B: INSERT INTO t VALUES (40, 9, 0)"],
};
const scripted = (lines) => lines.map((line) => [SESSIONS.indexOf(line[0]), line.slice(3)]);

const lines = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).replace(/\n$/, "").split("\n");
};
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

// What is understood of SQL.
const CONDITION = /^(id|k|v)\s*(=|>=|<=|>|<)\s*(-?\d+)$/i;
const BETWEEN = /^(id|k|v)\s+between\s+(-?\d+)\s+and\s+(-?\d+)$/i;

class Unknown extends Error {}

function number(text) {
  const value = Number(text);
  if (!(Math.abs(value) <= MOST_NUMBER)) throw new Unknown(`${text} is too large here: up to ${count(MOST_NUMBER)}`);
  return value;
}

/** WHERE to an index, bits of the bounds (native/kernels/lock_sys/wasm.cpp), and the bounds. */
function range(where) {
  const found = { index: 0, bounds: 0, low: 0, high: 0 };
  if (where === undefined) return found;
  const between = where.match(BETWEEN);
  const parts = between ? [`${between[1]} >= ${between[2]}`, `${between[1]} <= ${between[3]}`] : where.split(/\s+and\s+/i);
  const columns = new Set();
  for (const part of parts) {
    const condition = part.trim().match(CONDITION);
    if (!condition) throw new Unknown(`"${part.trim()}" is not understood: compare id or k with a number, by =, <, <=, >, >= or BETWEEN`);
    const [, column, sign, text] = condition;
    columns.add(column.toLowerCase());
    if (sign !== "<" && sign !== "<=") Object.assign(found, { low: number(text), bounds: found.bounds | 1 | (sign === ">" ? 0 : 4) });
    if (sign !== ">" && sign !== ">=") Object.assign(found, { high: number(text), bounds: found.bounds | 2 | (sign === "<" ? 0 : 8) });
  }
  if (columns.size > 1) throw new Unknown("compare one column only: the others would be looked at after the lock is there");
  if (columns.has("v")) throw new Unknown("v has no index, so that InnoDB would lock every row: leave WHERE out to see it");
  found.index = columns.has("k") ? 1 : 0;
  return found;
}

/** A statement to the arguments of the kernel's `execute`; throws what to tell the reader. */
function parsed(text) {
  const sql = text.trim().replace(/\s*;$/, "").replace(/\s+/g, " ");
  const none = { index: 0, bounds: 0, low: 0, high: 0, column: 0, more: 0, row: [0, 0, 0] };
  let found = sql.match(/^(commit|rollback)$/i);
  if (found) return { ...none, verb: found[1].toLowerCase() };
  found = sql.match(/^select \* from t(?: where (.+?))? (for update|for share|lock in share mode)$/i);
  if (found) return { ...none, ...range(found[1]), verb: /update/i.test(found[2]) ? "select for update" : "select for share" };
  if (/^select /i.test(sql)) throw new Unknown("a SELECT locks nothing here unless it reads SELECT * FROM t ... FOR UPDATE, or FOR SHARE");
  found = sql.match(/^delete from t(?: where (.+))?$/i);
  if (found) return { ...none, ...range(found[1]), verb: "delete" };
  found = sql.match(/^insert into t values ?\( ?(-?\d+) ?, ?(-?\d+) ?, ?(-?\d+) ?\)$/i);
  if (found) return { ...none, verb: "insert", row: found.slice(1).map(number) };
  found = sql.match(/^update t set (id|k|v) ?= ?(id|k|v) ?([+-]) ?(\d+)(?: where (.+))?$/i);
  if (found && found[1].toLowerCase() === found[2].toLowerCase()) {
    const column = COLUMNS.indexOf(found[1].toLowerCase());
    const rows = range(found[5]);
    if (column === 0) throw new Unknown("the key cannot be changed here: change k or v");
    if (column === 1 && rows.index === 1) throw new Unknown("to change k, find the rows by id");
    return { ...none, ...rows, verb: "update", column, more: number(`${found[3]}${found[4]}`) };
  }
  throw new Unknown("not understood. Try SELECT * FROM t WHERE id = 10 FOR UPDATE, UPDATE t SET v = v + 1 WHERE id = 10, " +
    "DELETE FROM t WHERE id = 10, INSERT INTO t VALUES (25, 3, 0), COMMIT or ROLLBACK");
}

function state(kernel) {
  const seen = { results: [], waits: [], records: INDEXES.map(() => []), locks: [] };
  for (const line of lines(kernel, kernel.state())) {
    const [what, a, b, c, mode, data] = line.split("\t");
    if (what === "result") seen.results[Number(a)] = b;
    else if (what === "wait") seen.waits.push([Number(a), Number(b)]);
    else if (what === "record") seen.records[Number(a)].push({ key: c, is_deleted: b === "1" });
    else seen.locks.push({ session: Number(a), index: Number(b), is_waiting: c === "1", mode, data });
  }
  return seen;
}

/** A statement of one session, run unless it may not be; how that ended. */
function ran(kernel, verbs, [session, text], before) {
  if (before.results[session] === "waits") return "left out: the session waits";
  let statement;
  try {
    statement = parsed(text);
  } catch (problem) {
    if (problem instanceof Unknown) return problem.message;
    throw problem;
  }
  const more = statement.verb === "insert" ? 1 : statement.column === 1 ? before.records[0].length : 0;
  if (before.records.some((records) => records.length + more > MOST_RECORDS)) return "the picture has no room for more records: start again";
  const { verb, index, bounds, low, high, column, row } = statement;
  kernel.execute(session, verbs.indexOf(verb), index, bounds, low, high, column, statement.more, ...row);
  return "";
}

const others = (session, { waits }) => waits.filter(([waiting]) => waiting === session).map(([, blocking]) => SESSIONS[blocking]).join(" and ");
const outcome = (session, seen) => (seen.results[session] === "waits" ? `waits for ${others(session, seen)}` : seen.results[session]);
/** "X,GAP,INSERT_INTENTION" of a record: which parts it covers, and a short name. */
function cover({ mode, data }) {
  const [letter, ...kinds] = mode.split(",");
  const behind = data === "supremum pseudo-record";
  const gap = !kinds.includes("REC_NOT_GAP");
  const name = kinds.includes("INSERT_INTENTION") ? "insert" : kinds.includes("REC_NOT_GAP") ? "row" : kinds.includes("GAP") || behind ? "gap" : "row and gap";
  return { gap, record: !behind && !kinds.includes("GAP"), short: `${letter} ${name}` };
}

/** Statements that a link may hold; one that is not understood says so when it is run. */
const isScript = (script) => Array.isArray(script) && script.length <= MOST_STATEMENTS
  && script.every((each) => Array.isArray(each) && each.length === 2 && SESSIONS[each[0]] && typeof each[1] === "string" && each[1].length < 200);

export default {
  title: "Two sessions and their locks",

  inputs: [
    { name: "script", start: scripted(EXAMPLES["A gap"]), accepts: isScript },
    { name: "design", label: "Version", isChoice: true, plays: "Play the versions", values: ["5.7", "8.0.15", "9.7"], start: "9.7", format: (name) => `MySQL ${name}` },
    {
      name: "reads_committed", label: "Isolation", isChoice: true, values: [0, 1], start: 0,
      format: (on) => (on ? "READ COMMITTED" : "REPEATABLE READ"),
    },
  ],

  /** A line to type in for each session, examples, and what was run so far. */
  control({ element, id, held, changed }) {
    const history = element("ol");
    const box = element("div", { class: "er-history", tabindex: 0, role: "region", "aria-label": "Statements so far" }, history);
    const hint = element("p", { class: "er-hint", id: `${id}-hint`, role: "status" });
    const put = (script, said = "") => {
      held.script = script.slice(0, MOST_STATEMENTS);
      hint.textContent = said;
      changed();
    };
    const tool = (name, onclick) => element("button", { type: "button", class: "er-tool", onclick }, name);
    const lineOf = (letter, session) => {
      const field = element("input", { type: "text", id: `${id}-${letter}`, spellcheck: "false", autocomplete: "off", autocapitalize: "off",
        "aria-describedby": `${id}-hint` });
      const run = (event) => {
        event.preventDefault();
        if (!field.value.trim()) return;
        try {
          parsed(field.value);
        } catch (problem) {
          if (!(problem instanceof Unknown)) throw problem;
          hint.textContent = `${letter}: ${problem.message}.`;
          return;
        }
        if (result?.results[session] === "waits") {
          hint.textContent = `${letter} waits for ${others(session, result)} and cannot run anything before. Let the other session end its transaction.`;
        } else if (held.script.length >= MOST_STATEMENTS) {
          hint.textContent = "There is no room for more statements: start again.";
        } else {
          put([...held.script, [session, field.value.trim()]]);
          field.value = "";
        }
      };
      return element("form", { class: "er-statement", onsubmit: run }, element("label", { for: `${id}-${letter}` }, letter), field,
        element("button", { type: "submit", class: "er-tool", "aria-label": `Run as session ${letter}` }, "Run"));
    };
    let result = null;
    const tools = element("div", { class: "er-tools", role: "group", "aria-label": "Examples" },
      ...Object.entries(EXAMPLES).map(([name, script]) => tool(name, () => put(scripted(script), `${name}: ${count(script.length)} statements were run.`))));
    const ends = element("div", { class: "er-tools", role: "group", "aria-label": "The statements" },
      tool("Take the last one back", () => put(held.script.slice(0, -1))), tool("Start again", () => put([])));
    return {
      node: element("div", { class: "er-draw" }, tools, ...SESSIONS.map(lineOf), hint, box, ends),
      show(next) {
        result = next;
        history.replaceChildren(...next.steps.map((step) => element("li", {}, `${SESSIONS[step.session]}: `, element("code", {}, step.text), ` ${step.said}`)));
        box.scrollTop = box.scrollHeight;
      },
    };
  },

  compute(kernel, inputs) {
    const [designs, verbs] = [lines(kernel, kernel.designs()), lines(kernel, kernel.verbs())];
    kernel.create(designs.indexOf(inputs.design), inputs.reads_committed);
    let seen = state(kernel);
    const steps = inputs.script.map(([session, text]) => {
      const refused = ran(kernel, verbs, [session, text], seen);
      const before = seen;
      seen = state(kernel);
      const freed = SESSIONS.map((name, i) => [name, i])
        .filter(([, i]) => i !== session && before.results[i] === "waits" && seen.results[i] !== "waits")
        .map(([name, i]) => `; ${name} goes on: ${seen.results[i]}`);
      return { session, text, said: refused || `${outcome(session, seen)}${freed.join("")}` };
    });
    return { inputs, steps, ...seen };
  },

  question: {
    draw(pick) {
      const [low, high] = [pick([5, 10, 12, 15, 20]), pick([20, 22, 25, 30])];
      const id = pick([12, 17, 22, 27, 10, 20, 30]);
      const other = id % 10 ? `INSERT INTO t VALUES (${id}, 7, 0)` : `UPDATE t SET v = v + 1 WHERE id = ${id}`;
      const first = pick([`WHERE id BETWEEN ${low} AND ${high}`, `WHERE id = ${low}`, "WHERE k = 1"]);
      return { script: scripted([`A: SELECT * FROM t ${first} FOR UPDATE`, `B: ${other}`]), design: pick(["5.7", "9.7"]), reads_committed: pick([0, 0, 0, 1]) };
    },
    ask: ({ inputs }) => `The table has the rows (10, 1, 0), (20, 1, 0) and (30, 5, 0) of id, k and v, with an index on k. MySQL ${inputs.design}, ` +
      `${inputs.reads_committed ? "READ COMMITTED" : "REPEATABLE READ"}. ${inputs.script.map(([session, sql]) => `${SESSIONS[session]}: ${sql}.`).join(" ")} What happens to B?`,
    choices: () => ["B waits for A", "B goes on"],
    right: ({ results: ended }) => (ended[1] === "waits" ? "B waits for A" : "B goes on"),
  },

  results(result) {
    const records = result.locks.filter((lock) => lock.index >= 0);
    return [
      ...SESSIONS.map((name, i) => [`Session ${name}`, outcome(i, result)]),
      ["Locks on records and gaps", count(records.length)],
      ["Of them waiting", count(records.filter((lock) => lock.is_waiting).length)],
    ];
  },

  sentence(result) {
    const waiting = result.locks.filter((lock) => lock.is_waiting)
      .map((lock) => ` It asks for ${lock.mode} ${lock.data === "supremum pseudo-record" ? "behind the last record" : `at record ${lock.data}`} of ${INDEXES[lock.index]}.`);
    return `${SESSIONS.map((name, i) => `${name}: ${outcome(i, result)}`).join(". ")}.${waiting.join("")}`;
  },

  picture(result, width, id) {
    const wide = width > 520;
    const [line, top] = [27, 44];
    const block = top + (MOST_RECORDS + 1) * line + 6;
    const each = wide ? (width - 24) / 2 : width;
    const height = (wide ? 1 : 2) * block + 38;
    const parts = [];
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${what}</text>`);
    INDEXES.forEach((name, index) => {
      const [left, above] = [wide && index ? each + 24 : 0, !wide && index ? block : 0];
      const [label, column] = [62, (each - 62) / 2];
      text(left, above + 14, `Index ${name}${index ? ", id" : " (id)"}`, 'font-weight="700"');
      SESSIONS.forEach((session, i) => text(left + label + i * column + 4, above + 34, `Session ${session}`, 'font-weight="600"'));
      const rows = [...result.records[index], { key: "supremum pseudo-record", is_deleted: false }];
      rows.forEach((record, at) => {
        const y = above + top + at * line;
        const behind = at === rows.length - 1;
        parts.push(`<line x1="${left}" y1="${y}" x2="${left + each}" y2="${y}" stroke="currentColor" stroke-opacity="0.2"/>`);
        text(left, y + 20, behind ? "the end" : record.key, record.is_deleted ? 'text-decoration="line-through"' : "");
        SESSIONS.forEach((_, session) => {
          const mine = result.locks.filter((lock) => lock.session === session && lock.index === index && lock.data === record.key);
          if (!mine.length) return;
          const x = left + label + session * column;
          const bar = (from, tall, which) => {
            const of = mine.filter((lock) => cover(lock)[which]);
            if (!of.length) return;
            const fill = of.some((lock) => !lock.is_waiting) ? COLOURS[session] : "none";
            parts.push(`<rect x="${x.toFixed(1)}" y="${y + from}" width="${(column - 4).toFixed(1)}" height="${tall}" fill="${fill}" stroke="currentColor" ${fill === "none" ? 'stroke-dasharray="4 3"' : ""}/>`);
            if (session && fill !== "none") parts.push(`<rect x="${x.toFixed(1)}" y="${y + from}" width="5" height="${tall}" fill="url(#${id}-second)"/>`);
          };
          bar(2, 7, "gap");
          bar(9, 16, "record");
          const onFill = mine.some((lock) => cover(lock).record && !lock.is_waiting);
          const each_said = mine.map((lock) => `${cover(lock).short}${lock.is_waiting ? " waits" : ""}`).join(", ");
          const said = each_said.length * LETTER_PX > column - 14 ? `${mine.length} locks` : each_said;
          text(x + 8, y + 21, said, `font-size="12" ${onFill ? 'fill="#000"' : ""}`);
        });
      });
    });
    text(0, height - 24, "Thin bar: the gap in front; thick bar: the row.", 'font-size="12"');
    text(0, height - 6, "Dashed: waits; struck out: deleted.", 'font-size="12"');
    const said = result.locks.filter((lock) => lock.index >= 0)
      .map((lock) => `${SESSIONS[lock.session]} ${lock.is_waiting ? "waits for" : "has"} ${lock.mode} on ${lock.data} of ${INDEXES[lock.index]}`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Locks on the records of two indexes: ${escaped(said.join("; ") || "none")}." font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">` +
      `<defs><pattern id="${id}-second" width="5" height="4" patternUnits="userSpaceOnUse"><path d="M0 2 H5" stroke="#000" fill="none"/></pattern></defs>` +
      `${parts.join("")}</svg>`;
  },
};
