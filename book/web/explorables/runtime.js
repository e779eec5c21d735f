// What every explorable shares: the kernel's start, the knobs, and the two ways onto a page.
// Import-free, because a page opened from disk cannot load modules (README.md beside this file).

// The kernels use no file and no clock; the C library under them still names a few WASI calls. They answer 0.
const wasi = new Proxy({}, { get: () => () => 0, has: () => true });

/**
 * Compiles a kernel and returns its exports, ready to be called. It is small enough to be compiled at once, so that the
 * explorable stands when its page is first painted, and nothing moves later.
 */
export function startKernel(bytes) {
  const module = new WebAssembly.Module(bytes);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = wasi[name];
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize?.();
  return exports;
}

export function decodeBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** 1234567 -> "1,234,567", the same in every reader's locale. */
export function count(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** 262144 -> "256 KiB". */
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** An element with attributes and children; `on...` attributes are listeners. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Where each slider stands in the address `search` of a page, for those that it names with a value that they have. */
export function asked(search, key, sliders) {
  const named = new URLSearchParams(search);
  const places = sliders.map((input) => [input.name, input.values.findIndex((value) => String(value) === named.get(`${key}.${input.name}`))]);
  return Object.fromEntries(places.filter(([, place]) => place >= 0));
}

/** The same of what the module's own control sets, as JSON, where the input `accepts` it. */
export function askedOfControl(search, key, inputs) {
  const named = new URLSearchParams(search);
  const found = {};
  for (const { name, accepts } of inputs) {
    const text = accepts && named.get(`${key}.${name}`);
    if (!text) continue;
    try {
      const value = JSON.parse(text);
      if (accepts(value)) found[name] = value;
    } catch {
      // Not ours: the start value stays.
    }
  }
  return found;
}

/** The places of these values, by the names of their sliders; what a preset does not name stays at its start. */
export function placesOf(values, sliders) {
  return Object.fromEntries(sliders.filter(({ name }) => name in values).map((input) => [input.name, input.values.indexOf(values[input.name])]));
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function dice(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A computation as steps, also where the module computes at once: each yields { share, result }, the last returns the result. */
function* steps(definition, kernel, inputs) {
  const computed = definition.compute(kernel, inputs);
  return typeof computed.next === "function" ? yield* computed : computed;
}

function finished(computing) {
  for (;;) {
    const { value, done } = computing.next();
    if (done) return value;
  }
}

/** All steps at once, for a caller that can wait. */
export function computed(definition, kernel, inputs) {
  return finished(steps(definition, kernel, inputs));
}

const STEP_MS = 900;
const SLICE_MS = 30;
/** Steps on between the page's own work, so that it scrolls and listens meanwhile. What takes one slice is over when this returns. */
function inSlices(computing, onStep, onEnd) {
  let timer = 0;
  const slice = () => {
    const end = performance.now() + SLICE_MS;
    for (;;) {
      const { value, done } = computing.next();
      if (done) return onEnd(value);
      if (performance.now() < end) continue;
      onStep(value);
      timer = setTimeout(slice, 0);
      return undefined;
    }
  };
  slice();
  return () => clearTimeout(timer);
}

/** The case of the module's question that follows from a seed, in steps. The kernel computes what is right. */
function* drawing(definition, kernel, seed) {
  const { draw, ask, choices, right, fits = () => true, shown = (inputs) => inputs } = definition.question;
  const random = dice(seed);
  const start = Object.fromEntries(definition.inputs.map((input) => [input.name, input.start]));
  for (;;) {
    const given = { ...start, ...draw((list) => list[Math.floor(random() * list.length)]) };
    const result = yield* steps(definition, kernel, given);
    if (!fits(result)) continue;
    const inputs = shown(given);
    const why = definition.sentence(inputs === given ? result : yield* steps(definition, kernel, inputs));
    return { inputs, text: ask(result), choices: choices(result), right: right(result), why };
  }
}

export function drawn(definition, kernel, seed) {
  return finished(drawing(definition, kernel, seed));
}

/** A question about a drawn case, answered on the page: nothing of the answer is in the document before the reader checks. */
/** `kernel` starts one of its own, so that a case and the knobs do not get into each other's way. */
function questioner(definition, startOwn, id, show) {
  let own = null;
  const kernel = () => (own ??= startOwn());
  const status = element("p", { class: "er-verdict", role: "status", "aria-live": "polite" });
  const legend = element("legend", { tabindex: -1 });
  const boxes = element("div", { class: "er-choices" });
  const field = element("fieldset", { hidden: "" }, legend, boxes);
  const button = (label, onclick) => element("button", { type: "button", class: "er-tool", onclick }, label);
  const draw = button("Draw a case", () => next());
  const check = button("Check the answer", () => judge());
  const see = button("See it computed", () => show(asked.inputs));
  let asked = null;
  let stop = () => {};

  function next() {
    stop();
    const seed = Math.floor(Math.random() * 1e5);
    stop = inSlices(drawing(definition, kernel(), seed), () => {
      status.textContent = "The kernel computes a case.";
    }, (found) => (found.text === asked?.text ? next() : ask({ seed, ...found })));
  }

  function ask(found) {
    asked = found;
    legend.textContent = `Case ${asked.seed}. ${asked.text}`;
    boxes.replaceChildren(...asked.choices.map((choice, i) => element("label", {},
      element("input", { type: "radio", name: `${id}-choice`, value: choice, id: `${id}-choice-${i}` }), choice)));
    field.hidden = check.hidden = false;
    field.disabled = false;
    see.hidden = true;
    draw.textContent = "Draw another case";
    status.textContent = "";
    legend.focus(); // a screen reader reads the question, and Tab goes on to the choices
  }

  function judge() {
    const chosen = boxes.querySelector("input:checked")?.value;
    if (!chosen) {
      status.textContent = "Choose an answer first.";
      return;
    }
    status.textContent = `${chosen === asked.right ? "Right" : "Not so"}: ${asked.right}. ${asked.why}`;
    field.disabled = true;
    draw.focus(); // before its neighbour, which has the focus, is gone
    check.hidden = true;
    see.hidden = false;
  }

  check.hidden = see.hidden = true;
  return element("section", { class: "er-question", "aria-label": `Predict: ${definition.title}` },
    element("p", {}, "Predict before you look: the kernel draws a case and computes the answer here."), field,
    element("div", { class: "er-tools" }, check, draw, see), status);
}

/**
 * Puts the picture, the results and the knobs into `host` and computes once. With a `key`, as on a page, a link keeps their values. One that
 * `starts` plays by itself once, when the reader first sees it. Returns a function that takes the explorable off the page again.
 */
export function mount(host, definition, start, key = "", starts = false) {
  const kernel = start();
  // Counted by the document: each explorable of a page has a runtime of its own, and ids must differ.
  const id = `explorable-${(document.explorables = (document.explorables ?? 0) + 1)}`;
  const sliders = definition.inputs.filter((input) => input.values);
  const firstPlaces = Object.fromEntries(sliders.map((input) => [input.name, input.values.indexOf(input.start)]));
  const chosen = { ...firstPlaces, ...(key ? asked(location.search, key, sliders) : {}) };
  // What the module's own control sets.
  const controlled = definition.inputs.filter((input) => !input.values);
  const untouched = Object.fromEntries(controlled.map((input) => [input.name, input.start]));
  const held = { ...untouched, ...(key ? askedOfControl(location.search, key, controlled) : {}) };
  const picture = element("div", { class: "er-picture" });
  const results = element("dl", { class: "er-results" });
  const progress = definition.computes ? element("progress", { max: 1, value: 0, "aria-label": definition.computes }) : "";
  const sentence = element("p", { class: "er-sentence", role: "status", "aria-live": "polite" });
  const knobs = element("div", { class: "er-knobs", role: "group", "aria-label": definition.title });

  const shows = [];
  let played = null;
  let ticking = 0;
  for (const input of sliders) knobs.append((input.isSwitch ? tick : input.isChoice ? choice : knob)(input));
  const link = element("a", { class: "er-tool" }, "Link to these values");
  const player = element("button", { type: "button", class: "er-tool", onclick: () => play() }, played?.input.plays);
  const presets = (definition.presets ?? []).map(({ label, values }) =>
    element("button", { type: "button", class: "er-tool", onclick: () => startWith(values) }, label));
  const keep = element("div", { class: "er-tools er-keep" }, ...(played ? [player] : []), ...presets,
    element("button", { type: "button", class: "er-tool", onclick: () => startWith({}) }, "Start values"), ...(key ? [link] : []));
  const control = definition.control?.({ element, id, held, changed: () => schedule() });
  host.classList.add("er-live");
  const view = [element("div", { class: "er-view" }, progress, picture, results), sentence];
  const own = control ? [control.node] : [];
  host.replaceChildren(...(definition.isDrawn ? [...own, ...view] : [...view, ...own]), knobs, ...(sliders.length ? [keep] : []),
    ...(definition.question ? [questioner(definition, start, id, see)] : []));

  /** Turns everything to a drawn case. */
  function see(inputs) {
    for (const name of Object.keys(held)) held[name] = inputs[name];
    turn(placesOf(inputs, sliders));
    host.scrollIntoView({ block: "nearest" });
  }

  /** Turns everything to its start, but for these values. */
  function startWith(values) {
    for (const name of Object.keys(held)) held[name] = values[name] ?? untouched[name];
    turn({ ...firstPlaces, ...placesOf(values, sliders) });
  }

  function turn(places) {
    Object.assign(chosen, places);
    for (const show of shows) show();
    schedule();
  }

  /** Sets an input to its value at an index; `show` shows on its knob which that is. */
  function setter(input, show) {
    shows.push(show);
    show();
    const set = (index) => {
      chosen[input.name] = index;
      show();
      schedule();
    };
    if (input.plays) played = { input, set, last: input.values.length - 1 };
    return set;
  }

  /** Of an input whose values are few kinds of a thing: a button for each. */
  function choice(input) {
    const buttons = input.values.map((value, index) =>
      element("button", { type: "button", class: "er-tool", onclick: () => set(index) }, input.format(value)));
    const set = setter(input, () => buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(chosen[input.name] === index))));
    return element("fieldset", { class: "er-knob er-choice" }, element("legend", {}, input.label), element("div", { class: "er-tools" }, ...buttons));
  }

  /** Of an input that is off or on, in this order: a box to tick instead of a slider of two values. */
  function tick(input) {
    const box = element("input", { type: "checkbox", role: "switch", id: `${id}-${input.name}`, onchange: () => set(Number(box.checked)) });
    const shown = element("output", { for: `${id}-${input.name}` });
    const texts = input.values.map((value) => input.format(value));
    const longest = texts.reduce((most, text) => (text.length > most.length ? text : most));
    const set = setter(input, () => {
      box.checked = chosen[input.name] === 1;
      shown.textContent = texts[chosen[input.name]];
    });
    return element("div", { class: "er-knob" },
      element("label", { for: `${id}-${input.name}` }, input.label),
      element("div", { class: "er-value" }, shown, element("span", { "aria-hidden": "true" }, longest)),
      element("div", { class: "er-switch" }, box));
  }

  function knob(input) {
    const last = input.values.length - 1;
    const shown = element("output", { for: `${id}-${input.name}` });
    const texts = input.values.map((value) => input.format(value));
    const longest = texts.reduce((most, text) => (text.length > most.length ? text : most));
    const range = element("input", {
      type: "range", id: `${id}-${input.name}`, min: 0, max: last, step: 1, value: chosen[input.name],
      oninput: () => set(Number(range.value)),
    });
    const step = (by, word, sign) =>
      element("button", { type: "button", "aria-label": `${word} ${input.label.toLowerCase()}`,
        onclick: () => set(Math.min(last, Math.max(0, chosen[input.name] + by))) }, sign);
    const less = step(-1, "Lower", "\u2212");
    const more = step(+1, "Raise", "+");
    const set = setter(input, () => {
      const text = input.format(input.values[chosen[input.name]]);
      range.value = chosen[input.name];
      range.setAttribute("aria-valuetext", text);
      shown.textContent = text;
      // Not `disabled`: a disabled button drops the keyboard's focus at the end of the scale.
      less.setAttribute("aria-disabled", String(chosen[input.name] === 0));
      more.setAttribute("aria-disabled", String(chosen[input.name] === last));
    });
    return element("div", { class: "er-knob" },
      element("label", { for: `${id}-${input.name}` }, input.label),
      element("div", { class: "er-value" }, shown, element("span", { "aria-hidden": "true" }, longest)),
      element("div", { class: "er-slider" }, less, range, more));
  }

  /** From step to step by itself, until the reader or the last step stops it. */
  function play() {
    if (ticking) return pause();
    const at = () => chosen[played.input.name];
    const end = () => Math.min(played.last, result.last ?? played.last);
    if (at() >= end()) played.set(0);
    player.textContent = "Pause";
    ticking = setInterval(() => (at() < end() ? played.set(at() + 1) : pause()), STEP_MS);
    return undefined;
  }
  function pause() {
    clearInterval(ticking);
    ticking = 0;
    player.textContent = played?.input.plays ?? "";
    sentence.setAttribute("aria-live", "polite");
  }
  /** Once, from the first place to the one that is shown at the start, or through all and back; a screen reader stays silent, and any touch ends it. */
  function playByItself() {
    const rest = firstPlaces[played.input.name];
    sentence.setAttribute("aria-live", "off");
    played.set(0);
    player.textContent = "Pause";
    ticking = setInterval(() => {
      const now = chosen[played.input.name];
      if (now < (rest || played.last)) return played.set(now + 1);
      played.set(rest);
      return pause();
    }, STEP_MS);
    const touched = ({ target }) => {
      if (ticking && !player.contains(target)) pause();
    };
    for (const touch of ["pointerdown", "keydown"]) host.addEventListener(touch, touched, { once: true });
  }

  let frame = 0;
  let speech = 0;
  function schedule() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(update);
  }

  let result = null;
  let stop = () => {};
  let isInSight = !definition.computes; // what computes for long begins when the reader comes to it
  function update() {
    const values = Object.fromEntries(sliders.map((input) => [input.name, input.values[chosen[input.name]]]));
    if (key) {
      const kept = controlled.filter((input) => input.accepts).map(({ name }) => [`${key}.${name}`, JSON.stringify(held[name])]);
      link.href = `?${new URLSearchParams([...kept, ...sliders.map(({ name }) => [`${key}.${name}`, values[name]])])}#${key}`;
    }
    stop();
    const computing = steps(definition, kernel, { ...held, ...values });
    if (isInSight) stop = inSlices(computing, ({ share, result: soFar }) => show(soFar, share), (found) => show(found, 1));
    else show(computing.next().value.result, 0);
  }

  function show(found, share) {
    result = found;
    control?.show(result);
    if (progress) progress.value = share;
    results.replaceChildren(...definition.results(result).map(([term, value]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, value))));
    draw();
    // A screen reader hears the result once the reader's hand rests, not at every step.
    clearTimeout(speech);
    if (share === 1) speech = setTimeout(() => { sentence.textContent = definition.sentence(result); }, sentence.textContent ? 350 : 0);
  }

  let drawnWidth = 0;
  function draw() {
    const before = places();
    drawnWidth = Math.round(picture.clientWidth) || 640;
    picture.innerHTML = definition.picture(result, drawnWidth, id);
    // On a phone it stays in view (explorable.css): of a high one the lower part, so that there is room for a knob.
    picture.style.setProperty("--er-over", `${Math.max(0, Math.round(picture.clientHeight - 0.58 * innerHeight))}px`);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    // What has a name of its own glides from where it was.
    for (const [name, { left, top, node }] of places()) {
      const from = before.get(name);
      if (!from || (from.left === left && from.top === top)) continue;
      node.animate([{ transform: `translate(${from.left - left}px, ${from.top - top}px)` }, { transform: "none" }], { duration: 250, easing: "ease-out" });
    }
  }
  /** Where the parts of the picture with a `data-moves` are. */
  function places() {
    const box = picture.getBoundingClientRect();
    return new Map([...picture.querySelectorAll("[data-moves]")].map((node) => {
      const at = node.getBoundingClientRect();
      return [node.dataset.moves, { left: at.left - box.left, top: at.top - box.top, node }];
    }));
  }

  update();
  const watcher = new ResizeObserver(() => {
    if (Math.round(picture.clientWidth) !== drawnWidth) draw();
  });
  watcher.observe(picture);
  const sight = new IntersectionObserver(([seen]) => {
    if (!seen.isIntersecting) return;
    sight.disconnect();
    isInSight = true;
    schedule();
  });
  if (!isInSight) sight.observe(host);
  const isAsked = [...new URLSearchParams(location.search).keys()].some((name) => name.startsWith(`${key}.`));
  const stage = new IntersectionObserver(([seen]) => {
    if (!seen.isIntersecting) return;
    stage.disconnect();
    playByItself();
  }, { threshold: 0.4 });
  if (starts && played && !isAsked && !matchMedia("(prefers-reduced-motion: reduce)").matches) stage.observe(picture);
  return () => {
    watcher.disconnect();
    sight.disconnect();
    stage.disconnect();
    stop();
    pause();
    cancelAnimationFrame(frame);
    clearTimeout(speech);
  };
}

/** A static page: the element holds a plain figure, which stays for print and when the kernel cannot start. */
export function defineElement(tag, definition, kernelBytes) {
  customElements.define(tag, class extends HTMLElement {
    connectedCallback() {
      const host = element("div");
      try {
        this.querySelector("figure").prepend(host);
        host.id = `${tag}-knobs`;
        this.classList.add("er-ready");
        mount(host, definition, () => startKernel(kernelBytes), host.id, this.hasAttribute("starts"));
      } catch (problem) {
        host.remove();
        this.classList.remove("er-ready");
        this.classList.add("er-failed");
        console.info(`${tag}: showing the plain figure instead:`, problem);
      }
    }
  });
}

/** A notebook: anywidget calls this with its model and an empty element. */
export function renderWidget({ model, el }, definition) {
  const view = model.get("kernel");
  const host = element("div");
  el.classList.add("er-widget");
  el.append(host);
  return mount(host, definition, () => startKernel(new Uint8Array(view.buffer, view.byteOffset, view.byteLength)));
}
