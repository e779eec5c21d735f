// A whole engine under a reader's switches: native/kernels/engine on the simulated machine, compiled to WebAssembly.

// What each statement of SysBench's read-write transaction asked of MySQL 9.7.4 with one client (own-demands): executions per
// transaction, computing in ns, mini-transactions of a thousand executions, bytes of redo of each. A test holds it against the recording.
const DEMANDS = {
  "read_write.begin": [1, 28166, 15, 10],
  "read_write.select_point": [10, 31904, 11, 10],
  "read_write.select_range": [1, 74754, 20, 10],
  "read_write.select_sum": [1, 62163, 10, 15],
  "read_write.select_ordered": [1, 87542, 35, 9],
  "read_write.select_distinct": [1, 121678, 15, 10],
  "read_write.update_index": [1, 75340, 5015, 45],
  "read_write.update_non_index": [1, 42138, 2005, 162],
  "read_write.delete": [1, 41963, 3010, 35],
  "read_write.insert": [1, 43140, 3010, 171],
  "read_write.commit": [1, 64084, 1025, 107],
};
const AWAY_NS = 33000; // before each statement, the kernel's default
const SUM = Object.values(DEMANDS).reduce((sum, [n, ns]) => ({ n: sum.n + n, ns: sum.ns + n * ns }), { n: 0, ns: 0 });

// CPUs -> sockets, cores of each, CPUs of a core: parts of the server of 176.
const MACHINES = { 2: [1, 2, 1], 8: [1, 8, 1], 22: [1, 22, 1], 44: [1, 22, 2], 88: [2, 22, 2], 176: [4, 22, 2] };

// Which latches, events and files belong to which queue. What threads of the server wait for, those of the log, of the timeout and of the
// page cleaners, is no client's time.
const QUEUES = [
  { name: "transaction system", of: /^trx_/ },
  { name: "lock system's latches", of: /^lock_(mutex|sys_)/ },
  { name: "rows that others locked", of: /^lock_wait_event$/ },
  { name: "redo log's latches", of: /^(log_(sys|flush_order|recent|reservation|no_flush)|flush_list)/ },
  { name: "redo log's flush at commit", of: /^(log_flush_events?|log_write_events|log_old_flush_event|redo)/ },
  { name: "binary log's stages and sync", of: /^(prepare_commit_mutex|LOCK_|COND_done|binlog)/ },
  { name: "buffer pool's latches and disk", of: /^(buf_(pool|block)|hash_table_locks|innodb_data_file)/ },
];
const REST = "computing, away, CPU queue";
const TRX = {
  "5.6": "one mutex, as in 5.6",
  "5.7": "one mutex, as in 5.7",
  "8.0": "one mutex, as in early 8.0",
  "8.0, split": "commit numbers split off (no release)",
  "8.0, sharded": "that and 256 shards (8.0.26 and later)",
};
const LOCKS = { "5.7": "one mutex, as in 5.7", "9.7": "sharded, as in 9.7" };
const BINLOGS = {
  off: "off",
  "5.5": "as in 5.5: one commit at a time",
  "5.6": "as in 5.6: in groups",
  "5.7.6": "as in 5.7.6: one redo flush per group",
};
// What is said of it, the percent of the table's pages that have room (a tenth more than all, since its parts fill unevenly), and its latches.
const POOLS = {
  none: ["no part of it: all pages are there", 0, "8.0"],
  all: ["holds all pages", 110, "8.0"],
  half: ["holds half of the pages", 50, "8.0"],
  quarter: ["holds a quarter of the pages", 25, "8.0"],
  tenth: ["holds a tenth of the pages", 10, "8.0"],
  "tenth, one mutex": ["holds a tenth, one mutex as in 5.7", 10, "5.7"],
};
const SKEWS = { uniform: "all rows alike", special: "SysBench's special", pareto: "Pareto, 80 % in a fifth" };

// A dot for each client, or for several.
const MOST_DOTS = 64;
const [PITCH, GAP] = [9, 14];
/** A whole number in parts that are as the values are to each other, to the nearest. */
function shared(whole, values) {
  const sum = Math.max(1e-9, values.reduce((a, b) => a + b, 0));
  const parts = values.map((value) => Math.floor((whole * value) / sum));
  const rests = values.map((value, i) => [(whole * value) / sum - parts[i], i]).sort(([a], [b]) => b - a);
  const left = whole - parts.reduce((a, b) => a + b, 0);
  for (const [, i] of rests.slice(0, left)) parts[i] += 1;
  return parts;
}
const folded = (words, most) => words.split(" ").reduce((lines, word) => {
  const last = lines.at(-1);
  return last && last.length + 1 + word.length <= most ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
}, []);

const names = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n");
};
const time = (us) => (us < 995 ? `${us.toFixed(us < 9.95 ? 1 : 0)} us` : `${(us / 1000).toFixed(us < 99500 ? 1 : 0)} ms`);
// A window in which fewer ended than it should have was cut short, so that the page answers.
const rate = (seen) => (seen.transactions === 0 ? "below " : "") + count(seen.per_s);
const short = ({ is_short, transactions }) =>
  is_short ? ` Only ${count(transactions)} ${transactions === 1 ? "transaction" : "transactions"} ended before the run was cut off: take this for an order of size.` : "";
const percent = (share) => `${Math.round(100 * share)} %`;

function tell(kernel) {
  names(kernel, kernel.statements()).forEach((name, i) => {
    const [, computing_ns, mtrs_permille, mtr_bytes] = DEMANDS[name];
    kernel.demand(i, computing_ns, mtrs_permille, mtr_bytes);
  });
}

export default {
  title: "The switches of an engine",

  inputs: [
    { name: "locks", label: "Lock system", isChoice: true, values: Object.keys(LOCKS), start: "5.7", format: (name) => LOCKS[name] },
    { name: "trx", label: "Transaction system", values: Object.keys(TRX), start: "5.7", format: (name) => TRX[name] },
    { name: "redo", label: "Redo log", isChoice: true, values: ["5.6", "5.7", "8.0"], start: "5.7", format: (name) => `as in ${name}` },
    { name: "binlog", label: "Binary log", values: Object.keys(BINLOGS), start: "off", format: (name) => BINLOGS[name] },
    { name: "pool", label: "Buffer pool", values: Object.keys(POOLS), start: "none", format: (name) => POOLS[name][0] },
    { name: "cpus", label: "CPUs", values: Object.keys(MACHINES).map(Number), start: 176, format: (n) => `${n} in ${MACHINES[n][0]} ${MACHINES[n][0] === 1 ? "socket" : "sockets"}` },
    { name: "clients", label: "Clients", plays: "Play the clients", values: [1, 4, 16, 64, 128, 192, 256], start: 128, format: (n) => count(n) },
    { name: "skew", label: "Rows", isChoice: true, values: Object.keys(SKEWS), start: "uniform", format: (name) => SKEWS[name] },
  ],

  presets: [
    { label: "New latches, old log", values: { locks: "9.7", trx: "8.0, sharded" } },
    { label: "All parts new", values: { locks: "9.7", trx: "8.0, sharded", redo: "8.0" } },
    { label: "New, with a binary log", values: { locks: "9.7", trx: "8.0, sharded", redo: "8.0", binlog: "5.7.6" } },
    { label: "New, with half of the pages", values: { locks: "9.7", trx: "8.0, sharded", redo: "8.0", pool: "half" } },
  ],

  compute(kernel, inputs) {
    tell(kernel);
    const at = (address, name) => names(kernel, address).indexOf(name);
    const [, percent, latches] = POOLS[inputs.pool];
    const address = kernel.run(
      at(kernel.redo_designs(), inputs.redo), at(kernel.lock_designs(), inputs.locks), at(kernel.trx_latches(), inputs.trx),
      ...MACHINES[inputs.cpus], inputs.clients, at(kernel.distributions(), inputs.skew), at(kernel.binlogs(), inputs.binlog),
      percent, at(kernel.pool_latches(), latches));
    const lines = names(kernel, address).map((line) => line.split("\t"));
    const waits = lines.filter(([kind]) => kind === "wait").map(([, name, n, ns]) => ({ name, count: Number(n), total_ns: Number(ns) }));
    const seen = Object.fromEntries(lines.filter(([kind]) => kind !== "wait").map(([name, value]) => [name, name === "hash" ? value : Number(value)]));
    // Of a window in which none ended it is known that there are fewer than one of them in it.
    const n = Math.max(1, seen.transactions);
    const client_us = (inputs.clients * seen.window_ns) / 1000 / n;
    const queues = QUEUES.map(({ name, of }) => {
      const mine = waits.filter((wait) => of.test(wait.name)).sort((a, b) => b.total_ns - a.total_ns);
      return { name, us: Math.min(client_us, mine.reduce((sum, wait) => sum + wait.total_ns, 0) / 1000 / n), of: mine[0]?.name ?? "" };
    });
    const waited = queues.reduce((sum, queue) => sum + queue.us, 0);
    // Waits are counted where they end: those of a short window may add up to more than it.
    const rest = Math.max(0, client_us - waited);
    const alone_ns = SUM.ns + SUM.n * AWAY_NS;
    return {
      inputs, ...seen, waits, queues, rest, client_us,
      per_s: (n * 1e9) / seen.window_ns,
      most_per_s: Math.min((inputs.clients * 1e9) / alone_ns, (inputs.cpus * 1e9) / SUM.ns),
      longest: queues.reduce((most, queue) => (queue.us > most.us ? queue : most)),
    };
  },

  question: {
    draw: (pick) => ({
      locks: pick(Object.keys(LOCKS)), trx: pick(Object.keys(TRX)), redo: pick(["5.6", "5.7", "8.0"]), binlog: pick(["off", "off", "5.5", "5.7.6"]),
      pool: pick(["none", "none", "half", "tenth"]), cpus: pick([8, 44, 176]), clients: pick([1, 16, 64, 128, 256]), skew: pick(Object.keys(SKEWS)),
    }),
    ask: ({ inputs }) => `Lock system: ${LOCKS[inputs.locks]}. Transaction system: ${TRX[inputs.trx]}. Redo log: as in ${inputs.redo}. ` +
      `Binary log: ${BINLOGS[inputs.binlog]}. Buffer pool: ${POOLS[inputs.pool][0]}. ${count(inputs.clients)} ${inputs.clients === 1 ? "client" : "clients"} on ${inputs.cpus} CPUs, ${SKEWS[inputs.skew]}. For what does a transaction wait most?`,
    choices: () => [...QUEUES.map(({ name }) => name), "nothing"],
    right: ({ longest }) => (longest.us > 0 ? longest.name : "nothing"),
  },

  results(seen) {
    return [
      ["Transactions per second", rate(seen)],
      ["Without any queue at most", count(seen.most_per_s)],
      ["A transaction takes", time(seen.client_us)],
      ["Most of the waiting", seen.longest.us > 0 ? seen.longest.name : "none"],
      ["its share of that time", percent(seen.longest.us / seen.client_us)],
      ["Waits for rows, per transaction", (seen.lock_waits / Math.max(1, seen.transactions)).toFixed(2)],
      ["Deadlocks in the window", count(seen.deadlocks)],
      ["Commits per group", seen.inputs.binlog === "off" ? "no binary log" : (seen.commits / Math.max(1, seen.sync_groups)).toFixed(1)],
      ["Pages missed, per transaction", seen.inputs.pool === "none" ? "none" : (seen.pool_misses / Math.max(1, seen.transactions)).toFixed(1)],
      ["Window, of virtual time", `${(seen.window_ns / 1e6).toFixed(1)} ms`],
      ["Transactions in it", count(seen.transactions) + (seen.is_short ? ", too few" : "")],
    ];
  },

  sentence(seen) {
    const { inputs, longest } = seen;
    return `${count(inputs.clients)} ${inputs.clients === 1 ? "client" : "clients"} on ${inputs.cpus} CPUs: ${rate(seen)} transactions per second, ` +
      `of ${count(seen.most_per_s)} without any queue. ` +
      (longest.us > 0 ? `The most waiting is for ${longest.of}, ${percent(longest.us / seen.client_us)} of a transaction's time.` : "No client waits.") + short(seen);
  },

  picture(seen, width) {
    const rates = [
      { name: "this engine", value: seen.per_s, colour: "#0072B2", said: rate(seen) },
      { name: "without any queue, at most", value: seen.most_per_s, colour: "none", said: count(seen.most_per_s) },
    ];
    const room = Math.max(10, width - 120);
    const parts = ['<text x="0" y="14" font-weight="700">Transactions per second</text>'];
    const most = Math.max(1, ...rates.map(({ value }) => value));
    rates.forEach(({ name, value, colour, said }, i) => {
      const y = 20 + 38 * i;
      const w = ((value / most) * room).toFixed(1);
      parts.push(`<text x="0" y="${y + 13}">${name}</text>`,
        `<rect x="0" y="${y + 18}" width="${w}" height="13" fill="${colour}"${colour === "none" ? ' stroke="currentColor" stroke-dasharray="4 3"' : ""}/>`,
        `<text x="${(6 + Number(w)).toFixed(1)}" y="${y + 29}">${said}</text>`);
    });

    const { clients } = seen.inputs;
    const each = Math.ceil(clients / MOST_DOTS);
    const stations = [...seen.queues, { name: REST, us: seen.rest }];
    const dots = shared(Math.ceil(clients / each), stations.map(({ us }) => us));
    const top = 116;
    parts.push(`<text x="0" y="${top}" font-weight="700">Where the clients are: a dot is ${each === 1 ? "one" : each}</text>`);
    const across = width > 520 ? 4 : 2;
    const w = (width - GAP * (across - 1)) / across;
    const inRow = Math.max(1, Math.floor((w - 10) / PITCH));
    const box = 10 + PITCH * Math.ceil(MOST_DOTS / inRow);
    let k = 0; // a dot keeps its name, so that it is seen to go from station to station
    stations.forEach(({ name, us }, i) => {
      const x = (i % across) * (w + GAP);
      const y = top + 8 + Math.floor(i / across) * (box + 66);
      const isLongest = us > 0 && us === seen.longest.us;
      folded(name, Math.floor(w / 7)).forEach((line, n) => parts.push(`<text x="${x.toFixed(1)}" y="${y + 14 + 15 * n}"${isLongest ? ' font-weight="700"' : ""}>${line}</text>`));
      parts.push(`<rect x="${(x + 1).toFixed(1)}" y="${y + 36}" width="${(w - 2).toFixed(1)}" height="${box}" rx="5" fill="none" stroke="currentColor" stroke-width="${isLongest ? 2.5 : 1}"/>`);
      for (let n = 0; n < dots[i]; n += 1, k += 1) {
        parts.push(`<circle data-moves="dot-${k}" cx="${(x + 9 + (n % inRow) * PITCH).toFixed(1)}" cy="${y + 45 + Math.floor(n / inRow) * PITCH}" r="3.4" fill="${name === REST ? "#56B4E9" : "#D55E00"}"/>`);
      }
      parts.push(`<text x="${x.toFixed(1)}" y="${y + 36 + box + 15}">${time(us)}, ${percent(us / seen.client_us)}</text>`);
    });
    const height = top + 8 + Math.ceil(stations.length / across) * (box + 66);
    const said = stations.map(({ name, us }) => `${name} ${time(us)}`).join(", ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Bars: ${rate(seen)} transactions per second of ${count(seen.most_per_s)} without any queue. Below, the clients as dots in the parts of the engine where they wait. Of a transaction's time: ${said}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">${parts.join("")}</svg>`;
  },
};
