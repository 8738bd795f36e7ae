// Shows a machine with a memory at work: what it was given and answered, where its heads were, and
// what the memory holds after each step.

import { decimals, draw, make, scaleOf } from "./elements.js";
import { levels } from "./matrix.js";
import { player } from "./player.js";
import { numbersOf, strongest, visible } from "./words.js";

const NEEDED = ["first_memory", "adds", "erases", "attention_read", "attention_write", "bits"];
const [SMALLEST, LARGEST] = [3, 14]; // pixels of a cell
const HIGHEST = 360; // pixels of a panel
const USED = 0.1; // a weight, of a slot that a head uses
const BESIDE = 2; // slots that are shown beside those
const EDGE = 12; // pixels of the marks of the heads beside the memory
const TOLD = 2; // slots that are told of a head

/** Tells whether an answer is that of a machine with a memory. */
export const isMachine = (outputs) => NEEDED.every((name) => Array.isArray(outputs[name]));

const transposed = (rows) => rows[0].map((_, at) => rows.map((row) => row[at]));
const digits = (vector) => vector.map((value) => Number(value.toFixed(2))).join("");

/**
 * Computes the memory after each step: every head erases, then every head adds (Graves et al. 2014,
 * equations 3 and 4).
 *
 * @param outputs `first_memory` (slots, size), `attention_write` (heads, steps, slots), `erases` and
 *   `adds` (steps, heads, size).
 * @returns (steps, slots, size).
 */
export function memoriesOf({ first_memory: first, attention_write: writes, erases, adds }, steps) {
  let memory = first;
  return Array.from({ length: steps }, (_, step) => {
    memory = memory.map((row, slot) =>
      row.map((value, at) => {
        const weights = writes.map((head) => head[step][slot]);
        const kept = weights.reduce((left, w, head) => left * (1 - w * erases[step][head][at]), value);
        return weights.reduce((sum, w, head) => sum + w * adds[step][head][at], kept);
      }),
    );
    return memory;
  });
}

/**
 * Lists the slots to show: without the longest run that no head uses, if that is half of them. Slots
 * lie on a circle, as the heads' shifts do, so the list may go on from the last slot to the first.
 */
export function shownSlots(heads) {
  const count = heads[0].weights[0].length;
  const used = [...Array(count).keys()].filter((slot) =>
    heads.some(({ weights }) => weights.some((step) => step[slot] >= USED)),
  );
  const gaps = used.map((slot, at) => (used[at + 1] ?? used[0] + count) - slot);
  const widest = gaps.indexOf(Math.max(...gaps));
  const shown = count - gaps[widest] + 1 + 2 * BESIDE;
  if (!used.length || shown > count / 2) return [...Array(count).keys()];
  const first = used[(widest + 1) % used.length] - BESIDE + count;
  return Array.from({ length: shown }, (_, at) => (first + at) % count);
}

/** Makes a titled panel around an SVG. */
function panel(title, [width, height], ...children) {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  const picture = draw(
    "svg",
    { class: "plane", width: wide, height: high, viewBox: `0 0 ${wide} ${high}` },
    ...children,
  );
  return { picture, element: make("div", { class: "panel" }, make("p", { text: title }), picture) };
}

const frameOf = (width, height, x = 0) => draw("rect", { class: "frame", x, y: 0, width, height });

/** Makes a panel of rows over time; `look` and `keep` are called with a step and a row. */
function timePanel({ title, rows, size: [wide, high], look, keep }) {
  const [width, height] = [wide * rows[0].length, high * rows.length];
  const band = draw("rect", { class: "band on", y: 0, width: wide, height });
  const cells = levels(rows, [wide, high], 1);
  const { picture, element } = panel(title, [width + 1, height + 1], ...cells, frameOf(width, height), band);
  const placeOf = ({ clientX, clientY }) => {
    const box = picture.getBoundingClientRect();
    const [step, row] = [(clientX - box.left) / wide, (clientY - box.top) / high].map(Math.floor);
    const inside = step >= 0 && step < rows[0].length && row >= 0 && row < rows.length;
    return inside ? { step, row } : null;
  };
  picture.addEventListener("pointermove", (event) => look(placeOf(event)));
  picture.addEventListener("pointerleave", () => look(null));
  picture.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) keep(place.step);
  });
  return { element, show: (step) => band.setAttribute("x", step * wide) };
}

/** Makes the panel of the memory, with the weights of the heads beside its slots. */
function memoryPanel({ memories, heads, slots, size: [wide, high] }) {
  const [width, height] = [wide * memories[0][0].length, high * slots.length];
  const most = Math.max(1e-9, ...memories.flat(2).map(Math.abs));
  const place = draw("g", { transform: `translate(${EDGE} 0)` });
  const marks = draw("g", {});
  const { element } = panel(
    "memory after the step",
    [width + 2 * EDGE, height + 1],
    place,
    frameOf(width, height, EDGE),
    marks,
  );
  function show(step) {
    const values = memories[step];
    const sign = (of) => values.map((row) => row.map((value) => Math.max(0, of * value)));
    const [more, less] = [1, -1].map((of) => levels(sign(of), [wide, high], most));
    for (const path of less) path.classList.add("negative");
    place.replaceChildren(...more, ...less);
    marks.replaceChildren(
      ...heads.flatMap(({ kind, weights }) =>
        slots.map((slot, at) =>
          draw("rect", {
            class: `mark ${kind}`,
            x: kind === "write" ? 0 : width + EDGE + 2,
            y: at * high,
            width: EDGE - 2,
            height: high,
            "fill-opacity": weights[step][slot].toFixed(3),
          }),
        ),
      ),
    );
  }
  return { element, show, most };
}

/** Lists the heads, those that write first: {kind, title, weights (steps, slots)}. */
function headsOf(outputs, steps) {
  return ["write", "read"].flatMap((kind) => {
    const all = outputs[`attention_${kind}`];
    return all.map((weights, head) => ({
      kind,
      title: all.length > 1 ? `${kind} head ${head + 1}` : `${kind} head`,
      weights: weights.slice(0, steps),
    }));
  });
}

const strongestSlots = (weights) =>
  strongest(weights, weights.map((_, slot) => ({ text: `slot ${slot + 1}` })), TOLD);

/**
 * Shows the machine step by step.
 *
 * @param outputs of the model.
 * @param axes of the outputs.
 * @param inputs of the request, texts; a line a step.
 * @param state the user's choices: step.
 * @param change called with the choices that change.
 */
export function machineView({ outputs, axes, inputs, state, change, width }) {
  const of = axes?.attention_write?.[0]?.of ?? "vectors";
  const steps = outputs.bits.filter(Boolean).length;
  if (!steps) return null;
  const given = numbersOf(inputs[of] ?? "").slice(0, steps);
  const heads = headsOf(outputs, steps);
  const slots = shownSlots(heads);
  const memories = memoriesOf(outputs, steps).map((memory) => slots.map((slot) => memory[slot]));
  const side = (room, count) => Math.max(SMALLEST, Math.min(LARGEST, Math.floor(room / count)));
  const wide = side(Math.min(width, 560), steps);
  const high = side(HIGHEST, slots.length);
  let step = Math.min(Math.max(Number(state.step) || 1, 1), steps) - 1;

  const readout = make("p", { class: "readout" });
  const told = (at) => {
    const where = heads.map(({ title, weights }) => `${title} ${strongestSlots(weights[at]) || "–"}`);
    const bits = given[at] ? `given ${digits(given[at])}` : "";
    return [bits, `answers ${visible(outputs.bits[at])}`, ...where].filter(Boolean).join("; ");
  };
  const panels = [];
  const looking = (name, rows) => (place) => {
    readout.textContent = place
      ? `${name(place.row)} at step ${place.step + 1}: ${decimals(rows[place.row][place.step])}`
      : told(step);
  };
  const overTime = (title, rows, size, name) => {
    const look = looking(name, rows);
    panels.push(timePanel({ title, rows, size, look, keep: (at) => go(at) }));
    return panels.at(-1).element;
  };
  const bit = (row) => `bit ${row + 1}`;
  const slot = (row) => `slot ${slots[row] + 1}`;
  const bitsHigh = Math.max(SMALLEST + 3, Math.min(LARGEST, wide));
  const top = [
    given.length === steps && overTime("given", transposed(given), [wide, bitsHigh], bit),
    overTime("answered", transposed(outputs.probabilities.slice(0, steps)), [wide, bitsHigh], bit),
  ].filter(Boolean);
  const below = heads.map(({ title, weights }) => {
    const all = transposed(weights);
    return overTime(title, slots.map((at) => all[at]), [wide, high], slot);
  });
  const memory = memoryPanel({ memories, heads, slots, size: [Math.max(high, 6), high] });
  panels.push(memory);
  const controls = player({ label: "step", count: steps, at: step, told, go });

  function go(at) {
    step = at;
    for (const one of panels) one.show(at);
    controls.show(at);
    readout.textContent = told(at);
    change({ step: String(at + 1) }, { redraw: false });
  }
  for (const one of panels) one.show(step);
  readout.textContent = told(step);
  const all = outputs.first_memory.length;
  const shown = `Slots ${slots[0] + 1} to ${slots.at(-1) + 1} of ${all}; no other has a weight of ${USED}.`;
  const figure = make(
    "div",
    { class: "figure" },
    make("div", { class: "panels" }, ...top),
    make("div", { class: "panels" }, ...below, memory.element),
    slots.length < all ? make("p", { class: "note", text: shown }) : "",
    scaleOf(1, "weights and bits"),
    scaleOf(memory.most, "memory, orange below 0"),
  );
  return { elements: [controls.element, readout, figure], figure, follow: () => {} };
}
