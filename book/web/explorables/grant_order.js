// Two ways to choose who gets a row next, side by side from the same random numbers: native/kernels/engine, compiled to WebAssembly.

// What each statement of SysBench's read-write transaction and of TPC-C's five asked of MySQL 8.0.15 with one client (own-demands), as the
// chapter's figures have it: computing in ns, mini-transactions of a thousand executions, bytes of redo of each. A test holds it against
// the recording.
const DEMANDS = {
  "read_write.begin": [28644, 0, 150],
  "read_write.select_point": [28865, 0, 150],
  "read_write.select_range": [71692, 0, 150],
  "read_write.select_sum": [60861, 0, 150],
  "read_write.select_ordered": [85257, 0, 150],
  "read_write.select_distinct": [121367, 0, 150],
  "read_write.update_index": [74984, 5010, 42],
  "read_write.update_non_index": [39241, 2000, 163],
  "read_write.delete": [39444, 3000, 36],
  "read_write.insert": [41792, 3000, 171],
  "read_write.commit": [54747, 1105, 129],
  "new_order.select_district": [55868, 15, 10],
  "new_order.select_customer": [61882, 0, 150],
  "new_order.update_district": [58214, 3000, 60],
  "new_order.insert_orders": [60861, 4000, 84],
  "new_order.insert_new_order": [39455, 2000, 72],
  "new_order.select_item": [34621, 0, 150],
  "new_order.select_stock": [36466, 0, 150],
  "new_order.update_stock": [41361, 2000, 72],
  "new_order.insert_order_line": [35618, 2000, 65],
  "new_order.commit": [58640, 1278, 140],
  "payment.update_district": [66793, 3000, 69],
  "payment.select_district": [47939, 0, 150],
  "payment.update_warehouse": [46902, 2000, 50],
  "payment.select_warehouse": [40576, 0, 150],
  "payment.select_customers_by_name": [91700, 0, 150],
  "payment.select_customer": [56237, 0, 150],
  "payment.update_customer": [68867, 2000, 83],
  "payment.select_customer_data": [38405, 0, 150],
  "payment.update_customer_data": [83656, 2000, 595],
  "payment.insert_history": [54307, 3000, 62],
  "payment.commit": [56115, 1000, 160],
  "order_status.select_customers_by_name": [104523, 0, 150],
  "order_status.select_customer": [55000, 0, 150],
  "order_status.select_last_order": [92202, 0, 150],
  "order_status.select_order_lines": [66587, 0, 150],
  "order_status.commit": [26786, 0, 150],
  "delivery.select_oldest_new_order": [59883, 0, 150],
  "delivery.delete_new_order": [47043, 2100, 63],
  "delivery.select_order": [45334, 0, 150],
  "delivery.update_order": [72278, 2000, 101],
  "delivery.update_order_lines": [140258, 20600, 98],
  "delivery.select_order_sum": [60463, 0, 150],
  "delivery.update_customer": [65859, 2008, 75],
  "delivery.commit": [70073, 1000, 143],
  "stock_level.select_district": [53011, 0, 150],
  "stock_level.count_low_stock": [512478, 0, 150],
  "stock_level.commit": [32943, 0, 150],
};
// Printing a deadlock on 9.7.4 (own-deadlock-print): what it takes and what it adds to the log.
const PRINT_US = 762;
const REPORT_BYTES = 3168;

const POLICIES = {
  "fcfs, equal weights": "FIFO, equal weights",
  "fcfs, 5.7": "FIFO of 5.7",
  "cats, 8.0.3": "CATS of 8.0.3",
  "cats, 8.0.20": "CATS of 8.0.20",
  vats: "VATS (oldest first)",
  ldsf: "LDSF (largest set)",
  bldsf: "bLDSF (batch limit)",
  random: "by chance",
};
// Before each statement a client is away for so long, in the mean, as in the chapter's figures.
const SYSBENCH = { kind: "sysbench_read_write", warehouses: 1, away_ns: 33000 };
const TPCC = { kind: "tpcc", distribution: "uniform", rows: 1, away_ns: 80000 };
const LOADS = {
  pareto: { ...SYSBENCH, distribution: "pareto", rows: 1e6, text: "SysBench, Pareto, 1,000,000 rows" },
  special: { ...SYSBENCH, distribution: "special", rows: 1e4, text: "SysBench's special, 10,000 rows" },
  uniform: { ...SYSBENCH, distribution: "uniform", rows: 1e3, text: "SysBench, all alike, 1,000 rows" },
  tpcc_1: { ...TPCC, warehouses: 1, text: "TPC-C, 1 warehouse" },
  tpcc_10: { ...TPCC, warehouses: 10, text: "TPC-C, 10 warehouses" },
  tpcc_32: { ...TPCC, warehouses: 32, text: "TPC-C, 32 warehouses" },
};
const AT_A_TIME = 20000; // events between two looks at the clock
const CLEAR = 1.1; // in every pair, for the question

const texts = (kernel, address) => {
  const text = new Uint8Array(kernel.memory.buffer, address);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))).trimEnd().split("\n");
};
const printing = (us) => (us ? `${us === PRINT_US ? "as on 9.7.4, " : ""}${(us / 1000).toFixed(us % 1000 ? 2 : 0)} ms each` : "off");
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
const MEASURES = [
  { name: "tps", title: "Transactions per second", write: (n) => count(n) },
  { name: "waits", title: "Waits for rows, per transaction", write: (n) => n.toFixed(2) },
  { name: "deadlocks", title: "Deadlocks per 1,000 transactions", write: (n) => (n < 10 ? n.toFixed(1) : count(n)) },
  { name: "log", title: "Reports in the error log, bytes per second", write: (n) => bytes(n) },
];

/** What is known so far. */
function known(inputs, runs) {
  const sides = [0, 1].map((side) => runs.filter((run) => run.side === side));
  const ratios = sides[1].map((run, pair) => run.tps / sides[0][pair].tps);
  const means = Object.fromEntries(MEASURES.map(({ name }) => [name, sides.map((mine) => (mine.length ? mean(mine.map((run) => run[name])) : null))]));
  return { inputs, runs, sides, ratios, means, is_done: sides[1].length === inputs.pairs };
}
/** Whether the pairs agree on who is ahead: 1 the second, -1 the first, 0 they do not. */
const ahead = ({ ratios }) => (ratios.every((ratio) => ratio > 1) ? 1 : ratios.every((ratio) => ratio < 1) ? -1 : 0);
const said = ({ clients, load }) => `${count(clients)} clients, ${LOADS[load].text}`;

export default {
  title: "Two ways to choose who gets a row next",
  computes: "Share of the runs that is computed",

  inputs: [
    { name: "first", label: "First policy", values: Object.keys(POLICIES), start: "fcfs, equal weights", format: (name) => POLICIES[name] },
    { name: "second", label: "Second policy", values: Object.keys(POLICIES), start: "cats, 8.0.20", format: (name) => POLICIES[name] },
    { name: "clients", label: "Clients", values: [25, 50, 100, 200, 300], start: 200, format: (n) => count(n) },
    { name: "load", label: "Load", values: Object.keys(LOADS), start: "pareto", format: (name) => LOADS[name].text },
    { name: "print_us", label: "Printing deadlocks", values: [0, 500, PRINT_US, 2000, 4000], start: PRINT_US, format: printing },
    { name: "pairs", label: "Pairs of runs", values: [1, 2, 3], start: 2, format: (n) => count(n) },
  ],
  presets: [
    { label: "Printing off", values: { print_us: 0 } },
    { label: "Hot rows, printing off", values: { load: "special", print_us: 0 } },
    { label: "TPC-C, 10 warehouses", values: { load: "tpcc_10" } },
    { label: "Two kinds of FIFO, printing off", values: { second: "fcfs, 5.7", print_us: 0 } },
  ],

  *compute(kernel, inputs) {
    const at = (address, name) => texts(kernel, address).indexOf(name);
    const load = LOADS[inputs.load];
    const kind = at(kernel.kinds(), load.kind);
    texts(kernel, kernel.statements(kind)).forEach((name, i) => kernel.demand(kind, i, ...DEMANDS[name]));
    const policies = [inputs.first, inputs.second].map((name) => at(kernel.policies(), name));
    const distribution = at(kernel.distributions(), load.distribution);
    const runs = [];
    yield { share: 0, result: known(inputs, runs) };
    for (let seed = 1; seed <= inputs.pairs; seed += 1) {
      for (const [side, policy] of policies.entries()) {
        kernel.start(policy, kind, distribution, load.rows, load.warehouses, load.away_ns, inputs.clients, inputs.print_us, seed);
        for (let permille = 0; permille < 1000;) {
          permille = kernel.advance(AT_A_TIME);
          yield { share: (runs.length + permille / 1000) / (2 * inputs.pairs), result: known(inputs, runs) };
        }
        const seen = Object.fromEntries(texts(kernel, kernel.seen()).map((line) => line.split("\t")).map(([name, value]) => [name, name === "hash" ? value : Number(value)]));
        const n = Math.max(1, seen.transactions);
        const seconds = seen.window_ns / 1e9;
        runs.push({
          ...seen, seed, side, tps: n / seconds, waits: seen.lock_waits / n, counted: seen.deadlocks,
          deadlocks: (1000 * seen.deadlocks) / n, log: inputs.print_us ? (seen.deadlocks * REPORT_BYTES) / seconds : 0,
        });
      }
    }
    return known(inputs, runs);
  },

  question: {
    draw: (pick) => ({ clients: pick([50, 100]), load: pick(["pareto", "special", "tpcc_10"]), print_us: pick([0, PRINT_US, 4000]), pairs: 2 }),
    fits: ({ ratios }) => ratios.every((ratio) => ratio > CLEAR) || ratios.every((ratio) => ratio < CLEAR && ratio > 1 / CLEAR),
    ask: ({ inputs }) => `${said(inputs)}; printing of deadlocks: ${printing(inputs.print_us)}. Two pairs of runs. Is CATS of 8.0.20 faster than FIFO with equal weights, or slower, by more than a tenth in both?`,
    choices: () => ["CATS is faster", "FIFO is faster", "neither, by a tenth"],
    right: ({ ratios }) => (ratios[0] > CLEAR ? "CATS is faster" : ratios[0] < 1 / CLEAR ? "FIFO is faster" : "neither, by a tenth"),
  },

  results(seen) {
    const { ratios, is_done, sides } = seen;
    return [
      ["Second over first, pair by pair", ratios.map((ratio) => ratio.toFixed(2)).join(", ") || "not yet"],
      ["Do the pairs agree?", !is_done ? "not yet" : ratios.length < 2 ? "only one" : ahead(seen) ? "yes" : "no: noise"],
      ...["First", "Second"].map((name, side) => [`${name}: deadlocks counted`, sides[side].map((run) => count(run.counted)).join(", ") || "not yet"]),
      ["Counted for, after a warm-up", sides[0].length ? `${count(mean(sides[0].map((run) => run.window_ns)) / 1e6)} ms each` : "not yet"],
    ];
  },

  sentence(seen) {
    const { inputs, ratios, means } = seen;
    const [first, second] = [POLICIES[inputs.first], POLICIES[inputs.second]];
    const range = ratios.map((ratio) => ratio.toFixed(2)).join(" and ");
    const verdict = inputs.first === inputs.second ? "The same policy twice: the same runs."
      : ratios.length < 2 ? "One pair cannot tell a difference from noise."
        : ahead(seen) === 0 ? "The pairs do not agree on who is ahead: noise, as far as they can tell."
          : `${ahead(seen) > 0 ? "The second" : "The first"} is ahead in every pair.`;
    return `${said(inputs)}, printing ${printing(inputs.print_us)}: ${second} has ${range} times the throughput of ${first}. ${verdict} ` +
      `Deadlocks per 1,000 transactions: ${MEASURES[2].write(means.deadlocks[0])} and ${MEASURES[2].write(means.deadlocks[1])}.`;
  },

  picture(seen, width) {
    const { inputs, sides, means } = seen;
    const parts = [];
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${more}>${what}</text>`);
    const names = [POLICIES[inputs.first], POLICIES[inputs.second]];
    const [left, right, lane, strip] = [132, 84, 24, 84];
    const mark = (side, x, y) => (side
      ? `<rect x="${(x - 4.5).toFixed(1)}" y="${y - 4.5}" width="9" height="9" fill="#D55E00" fill-opacity="0.75" stroke="currentColor"/>`
      : `<circle cx="${x.toFixed(1)}" cy="${y}" r="5" fill="#0072B2" fill-opacity="0.75" stroke="currentColor"/>`);
    MEASURES.forEach(({ name, title, write }, i) => {
      const top = 14 + i * strip;
      const most = Math.max(...seen.runs.map((run) => run[name]), 1e-9);
      const x = (value) => left + (value / most) * Math.max(10, width - left - right);
      text(0, top, title, 'font-weight="700"');
      const y = (side) => top + 20 + side * lane;
      parts.push(`<line x1="${left}" y1="${y(0) - 10}" x2="${left}" y2="${y(1) + 10}" stroke="currentColor"/>`);
      // What came from the same random numbers is joined.
      sides[1].forEach((run, pair) => parts.push(`<line x1="${x(sides[0][pair][name]).toFixed(1)}" y1="${y(0)}" x2="${x(run[name]).toFixed(1)}" y2="${y(1)}" stroke="currentColor" stroke-opacity="0.45"/>`));
      sides.forEach((mine, side) => {
        text(0, y(side) + 4, names[side], 'font-size="12"');
        for (const run of mine) parts.push(mark(side, x(run[name]), y(side)));
        if (means[name][side] !== null) text(width, y(side) + 4, write(means[name][side]), 'text-anchor="end" font-size="12"');
      });
    });
    const height = 14 + MEASURES.length * strip - 6;
    text(width, height - 2, "right: the mean", 'text-anchor="end" font-size="12"');
    text(0, height - 2, "a dot: one run; 0 at the left", 'font-size="12"');
    const told = MEASURES.map(({ name, title, write }) => `${title}: ${sides.map((mine, side) => `${names[side]} ${mine.map((run) => write(run[name])).join(", ") || "not yet"}`).join("; ")}`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Dots, one per run. ${told.join(". ")}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">${parts.join("")}</svg>`;
  },
};
