// A query graph under the reader's hands, enumerated by native/kernels/join_order, compiled to WebAssembly.

// What `run` (native/kernels/join_order/wasm_query_graph.cpp) leaves in memory, in its order.
const TOTALS = ["sets", "pairs", "dpsize", "dpsub", "dpccp", "dphyp", "at", "left", "right", "plan_nodes", "cost", "parts"];
const PLAN_AT = 16;
const PARTS_AT = PLAN_AT + 3 * 19;
const VALUES = PARTS_AT + 10;

const MOST = 10;
const NONE = 99;
const letter = (node) => "ABCDEFGHIJ"[node];
const members = (set) => Array.from({ length: MOST }, (_, i) => i).filter((i) => (set >> i) & 1);
const names = (set) => `{${members(set).map(letter).join(",")}}`;

// The edge between tables a < b is bit b(b-1)/2 + a; the first 32 bits are `low`.
const place = (a, b) => (Math.max(a, b) * (Math.max(a, b) - 1)) / 2 + Math.min(a, b);
const every = (n) => Array.from({ length: (n * (n - 1)) / 2 }, (_, k) => k);
const ends = (k) => {
  const b = Math.floor((1 + Math.sqrt(1 + 8 * k)) / 2);
  return [k - (b * (b - 1)) / 2, b];
};
const SHAPES = {
  Chain: (a, b) => b === a + 1,
  Cycle: (a, b, n) => b === a + 1 || (a === 0 && b === n - 1),
  Star: (a) => a === 0,
  Clique: () => true,
};
const packed = (edges) => {
  const [low, high] = [0, 32].map((from) => edges.reduce((sum, k) => sum + (k >= from && k < from + 32 ? 2 ** (k - from) : 0), 0));
  return { low, high };
};
const unpacked = ({ tables, low, high }) => every(tables).filter((k) => Math.floor((k < 32 ? low : high) / 2 ** (k % 32)) % 2);
const shaped = (shape, n) => every(n).filter((k) => SHAPES[shape](...ends(k), n));
const position = (i, n) => {
  const angle = (2 * Math.PI * i) / n - Math.PI / 2;
  return [50 + 38 * Math.cos(angle), 50 + 38 * Math.sin(angle)];
};
const START = packed([...shaped("Cycle", 5), place(0, 2)]);
const isWord = (bits) => Number.isInteger(bits) && bits >= 0 && bits < 2 ** 32;
const drawnAs = (tables, edges) => ({ tables, ...packed(edges) });

export default {
  title: "Draw a query graph",
  isDrawn: true, // by its control, which stands above the picture

  inputs: [
    { name: "tables", start: 5, accepts: (n) => Number.isInteger(n) && n >= 2 && n <= MOST },
    { name: "low", start: START.low, accepts: isWord },
    { name: "high", start: START.high, accepts: isWord },
    {
      name: "step", label: "Pair", plays: "Play the pairs", values: Array.from({ length: 165 }, (_, i) => i), start: 11,
      format: (step) => `number ${count(step + 1)}`,
    },
    {
      name: "large", label: "Large table", values: [NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], start: 3,
      format: (table) => (table === NONE ? "none, all have 100 rows" : `${letter(table)} has 100,000 rows`),
    },
  ],

  presets: [
    { label: "A chain of ten", values: drawnAs(10, shaped("Chain", 10)) },
    { label: "A star of ten", values: drawnAs(10, shaped("Star", 10)) },
    { label: "A snowflake of ten", values: drawnAs(10, [[0, 1], [0, 2], [0, 3], [1, 4], [1, 5], [2, 6], [2, 7], [3, 8], [3, 9]].map((pair) => place(...pair))) },
    { label: "A clique of ten", values: drawnAs(10, shaped("Clique", 10)) },
  ],

  /** The drawing: a button a table, over lines. Every gesture is also a button, and the joins are a list of boxes, too. */
  control({ element, id, held, changed }) {
    let picked = null;
    let result = null;
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("viewBox", "0 0 100 100");
    lines.setAttribute("aria-hidden", "true");
    const board = element("div", { class: "er-board", role: "group", "aria-label": "The query graph" }, lines);
    const hint = element("p", { class: "er-hint", id: `${id}-hint`, role: "status" });
    const boxes = element("div", { class: "er-boxes" });
    const list = element("details", { class: "er-list" }, element("summary", {}, "The joins as a list"), boxes);
    const tool = (name, onclick) => element("button", { type: "button", class: "er-tool", onclick }, name);
    const tools = element("div", { class: "er-tools", role: "group", "aria-label": "Change the graph" },
      ...Object.keys(SHAPES).map((shape) => tool(shape, () => put(shaped(shape, held.tables)))),
      tool("Add a table", () => resize(held.tables + 1)),
      tool("Remove a table", () => resize(held.tables - 1)));
    const edges = () => unpacked(held);

    function put(chosen) {
      Object.assign(held, packed(chosen));
      picked = null;
      build();
      changed();
    }
    function toggle(a, b) {
      const k = place(a, b);
      put(edges().includes(k) ? edges().filter((other) => other !== k) : [...edges(), k]);
    }
    /** A new table is joined with the chosen one, or the last; the chosen table goes, or the last. */
    function resize(n) {
      if (n < 2 || n > MOST) return;
      const before = edges().map(ends);
      const gone = picked ?? n;
      const moved = (i) => (i > gone ? i - 1 : i);
      const after = n > held.tables ? [...before, [picked ?? n - 2, n - 1]]
        : before.filter((edge) => !edge.includes(gone)).map((edge) => edge.map(moved));
      held.tables = n;
      put(after.map((edge) => place(...edge)));
    }
    function pick(i) {
      if (picked === null || picked === i) {
        picked = picked === i ? null : i;
        paint();
      } else {
        toggle(picked, i);
      }
    }

    // A drag from one table to another, by mouse, pen or finger.
    let from = null;
    const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".er-node");
    board.addEventListener("pointerdown", (event) => {
      const node = event.target.closest(".er-node");
      from = node && board.contains(node) ? Number(node.dataset.table) : null;
    });
    board.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const box = board.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((value) => (100 * value) / box.width);
      draw([...position(from, held.tables), x, y]);
    });
    board.addEventListener("pointerup", (event) => {
      const node = under(event);
      const [a, b] = [from, node && board.contains(node) ? Number(node.dataset.table) : null];
      from = null;
      draw();
      if (a !== null && b !== null && a !== b) toggle(a, b);
    });
    board.addEventListener("pointercancel", () => { from = null; draw(); });
    board.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { picked = null; paint(); }
    });

    const nodes = [];
    /** As many buttons and boxes as the graph needs; those that stay keep the focus. */
    function build() {
      const n = held.tables;
      if (picked >= n) picked = null;
      while (nodes.length > n) nodes.pop().remove();
      while (nodes.length < n) {
        const i = nodes.length;
        const node = element("button", { type: "button", class: "er-node", "data-table": i, "aria-describedby": `${id}-hint`,
          onclick: () => pick(i) }, letter(i));
        nodes.push(node);
        board.append(node);
      }
      nodes.forEach((node, i) => {
        const [x, y] = position(i, n);
        node.style.left = `${x}%`;
        node.style.top = `${y}%`;
      });
      if (boxes.childElementCount !== every(n).length) {
        boxes.replaceChildren(...every(n).map((k) => element("label", {},
          element("input", { type: "checkbox", onchange: () => toggle(...ends(k)) }), ` ${ends(k).map(letter).join(" and ")}`)));
      }
      const present = edges();
      boxes.querySelectorAll("input").forEach((box, k) => { box.checked = present.includes(k); });
      for (const [button, off] of [[tools.children[4], n === MOST], [tools.children[5], n === 2]]) {
        button.setAttribute("aria-disabled", String(off));
      }
      paint();
    }
    const role = (i) => ((result?.left >> i) & 1 ? "left" : (result?.right >> i) & 1 ? "right" : "");
    function paint() {
      const around = nodes.map(() => []);
      for (const [a, b] of edges().map(ends)) {
        around[a].push(letter(b));
        around[b].push(letter(a));
      }
      nodes.forEach((node, i) => {
        node.setAttribute("aria-pressed", String(picked === i));
        node.dataset.role = role(i);
        const part = role(i) && `, in the ${role(i)} set of the pair`;
        node.setAttribute("aria-label", `${letter(i)}, ${around[i].length ? `joined with ${around[i].join(", ")}` : "not joined"}${part}`);
      });
      hint.textContent = picked === null
        ? "Drag from one table to another, or choose two, to join them or to take their join away."
        : `${letter(picked)} is chosen. Choose the table to join with it or to separate from it; Remove takes ${letter(picked)} away.`;
      draw();
    }
    function draw(loose) {
      const n = held.tables;
      const line = (x1, y1, x2, y2, more) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="currentColor" ${more}/>`;
      lines.innerHTML = edges().map(ends).map(([a, b]) => {
        const joins = role(a) && role(b) && role(a) !== role(b);
        return line(...position(a, n), ...position(b, n), `stroke-width="${joins ? 1.6 : 0.5}"`);
      }).join("") + (loose ? line(...loose, 'stroke-width="0.8" stroke-dasharray="2 2"') : "");
    }
    build();
    const key = element("p", { class: "er-key" },
      element("span", { class: "er-swatch", "data-role": "left" }), " left set ",
      element("span", { class: "er-swatch", "data-role": "right" }), " right set of the pair");
    return {
      node: element("div", { class: "er-draw" }, tools, board, key, hint, list),
      show(next) { result = next; build(); }, // a preset or a link may have drawn another graph
    };
  },

  compute(kernel, inputs) {
    const { low, high } = packed(unpacked(inputs)); // without joins of tables that are not there, which a link may hold
    const address = kernel.run(inputs.tables, low, high, inputs.step, inputs.large);
    const values = new Uint32Array(kernel.memory.buffer, address, VALUES);
    const result = { inputs, ...Object.fromEntries(TOTALS.map((name, i) => [name, values[i]])) };
    result.part_sets = Array.from(values.slice(PARTS_AT, PARTS_AT + result.parts));
    result.nodes = Array.from({ length: result.plan_nodes }, (_, i) => Array.from(values.slice(PLAN_AT + 3 * i, PLAN_AT + 3 * i + 3)));
    const tree = (i) => {
      const [tables, left, right] = result.nodes[i];
      return left > 100 ? members(tables).map(letter).join("") : `(${tree(left)} ${tree(right)})`;
    };
    result.plan = result.plan_nodes ? tree(result.plan_nodes - 1) : "";
    return result;
  },

  results(result) {
    return [
      ["Connected sets", count(result.sets)],
      ["Pairs", count(result.pairs)],
      ["Intermediate rows of the best plan", result.plan ? count(result.cost) : "no plan"],
    ];
  },

  sentence(result) {
    if (result.parts > 1) {
      return `Not all tables are joined: ${result.part_sets.map(names).join(" and ")} have no join between them, so there is no plan ` +
        `without a cross product. Within them are ${count(result.pairs)} pairs.`;
    }
    const most = Math.max(result.dpsize, result.dpsub);
    return `${count(result.pairs)} pairs; number ${count(result.at + 1)} joins ${names(result.left)} with ${names(result.right)}. ` +
      `DPhyp looks at ${count(result.dphyp)} candidates, ${result.dpsize > result.dpsub ? "DPsize" : "DPsub"} at ${count(most)}. ` +
      `Best plan: ${result.plan}.`;
  },

  picture(result, width, id) {
    const wide = width > 520;
    const [barsWidth, planAt, planWidth] = wide ? [width * 0.5 - 12, width * 0.5 + 12, width * 0.5 - 12] : [width, 0, width];
    const height = wide ? 250 : 470;
    const top = wide ? 0 : 220;
    const parts = [];
    const text = (x, y, what, more = "") => parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${what}</text>`);
    const bold = 'font-weight="600"';
    // The search space, on a scale by tenfold steps.
    const rows = [["Pairs", result.pairs, "currentColor"], ["DPhyp", result.dphyp, "#0072B2"], ["DPccp", result.dpccp, "#56B4E9"],
      ["DPsub", result.dpsub, "#E69F00"], ["DPsize", result.dpsize, "#D55E00"]];
    text(0, 14, "Candidates looked at; a line is tenfold", bold);
    const [from, to] = [58, barsWidth - 66];
    const at = (value) => from + ((to - from) * Math.log10(Math.max(1, value))) / 6;
    for (let power = 0; power <= 6; power += 1) {
      const x = at(10 ** power).toFixed(1);
      parts.push(`<line x1="${x}" y1="26" x2="${x}" y2="204" stroke="currentColor" stroke-opacity="0.25"/>`);
    }
    rows.forEach(([name, value, colour], i) => {
      const y = 32 + 34 * i;
      text(0, y + 17, name);
      parts.push(`<rect x="${from}" y="${y}" width="${Math.max(1, at(value) - from).toFixed(1)}" height="24" fill="${colour}" fill-opacity="${i ? 1 : 0.55}"/>`);
      text(at(value) + 6, y + 17, count(value));
    });
    // The plan: tables at the bottom of their branch, the last join on top.
    text(planAt, top + 14, "The best plan, by intermediate rows", bold);
    if (!result.nodes.length) {
      text(planAt, top + 44, "none: not all tables are joined");
    } else {
      const spots = [];
      let leaves = 0;
      let deepest = 1;
      const visit = (i, depth) => {
        const [, left, right] = result.nodes[i];
        deepest = Math.max(deepest, depth);
        spots[i] = left > 100 ? { column: leaves++, depth } : { left, right, depth };
        if (left > 100) return spots[i];
        const [a, b] = [visit(left, depth + 1), visit(right, depth + 1)];
        return Object.assign(spots[i], { column: (a.column + b.column) / 2 });
      };
      visit(result.nodes.length - 1, 0);
      const x = (spot) => planAt + 14 + ((planWidth - 28) * (spot.column + 0.5)) / leaves;
      const y = (spot) => top + 36 + (188 * spot.depth) / deepest;
      for (const spot of spots) {
        for (const child of [spot.left, spot.right]) {
          if (child === undefined) continue;
          const end = spots[child];
          parts.push(`<line x1="${x(spot).toFixed(1)}" y1="${y(spot).toFixed(1)}" x2="${x(end).toFixed(1)}" y2="${y(end).toFixed(1)}" stroke="currentColor" stroke-width="1.2"/>`);
        }
      }
      spots.forEach((spot, i) => {
        const isTable = spot.left === undefined;
        parts.push(`<circle cx="${x(spot).toFixed(1)}" cy="${y(spot).toFixed(1)}" r="${isTable ? 11 : 5}" fill="${isTable ? "var(--pst-color-background, #fff)" : "currentColor"}" stroke="currentColor" stroke-width="1.2"/>`);
        if (isTable) text(x(spot), y(spot) + 5, letter(members(result.nodes[i][0])[0]), 'text-anchor="middle" font-weight="700"');
      });
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Candidates: ${rows.map(([name, value]) => `${name} ${count(value)}`).join(", ")}. Best plan: ${result.plan || "none"}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="13" fill="currentColor">${parts.join("")}</svg>`;
  },
};
