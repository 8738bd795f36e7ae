// Shades each word of a text by its weight: of a single map, or of one step after the other.

import { choice, decimals, make, mark, scaleOf } from "./elements.js";
import { mapChooser, pickMap, thumbnail } from "./heads.js";
import { player } from "./player.js";
import { TokenList } from "./tokens.js";
import { apart, merge, strongest, words } from "./words.js";

const SUM = "sum"; // of all steps; shown until one is chosen
const FINEST = 480; // words of the overview: of more, neighbours share a column
const TOLD = 3; // steps that are told of a word

/** Makes the buttons of the steps. */
function buttonsOf(picked, row, choose) {
  const sum = { value: SUM, title: `sum of all ${picked.rowTokens.length}`, content: SUM };
  const steps = picked.rowTokens.map((title, at) => {
    return { value: String(at + 1), title, content: String(at + 1) };
  });
  return choice({
    label: picked.rowTitle,
    chosen: row === null ? SUM : String(row + 1),
    options: [sum, ...steps],
    choose,
  });
}

/** Makes a picture of all steps, a line each; pressing a line shows its step. */
function overviewOf(picked, weights, choose) {
  const canvas = thumbnail({ weights }, FINEST);
  const frame = make("div", { class: "line" });
  const element = make("div", { class: "lines", "aria-hidden": "true" }, canvas, frame);
  element.style.setProperty("--count", weights.length);
  const lineAt = ({ clientY }) => {
    const { top, height } = element.getBoundingClientRect();
    const line = Math.floor(((clientY - top) / height) * weights.length);
    return Math.max(0, Math.min(line, weights.length - 1));
  };
  element.addEventListener("click", (event) => choose(lineAt(event)));
  element.addEventListener("pointermove", (event) => {
    element.title = picked.rowTokens[lineAt(event)];
  });
  const show = (row) => {
    frame.hidden = row === null;
    frame.style.setProperty("--line", row ?? 0);
  };
  return { element, show };
}

/** Makes the controls of several steps: {elements, show}; nothing for a single one. */
function stepsOf(picked, weights, row, go) {
  const count = picked.rowTokens.length;
  if (count < 2) return { elements: [], show() {} };
  const buttons = buttonsOf(picked, row, (step) => go(step === SUM ? null : Number(step) - 1));
  const lines = overviewOf(picked, weights, go);
  const told = (at) => picked.rowTokens[at];
  const play = player({ label: picked.rowTitle, count, at: row ?? 0, told, go });
  const show = (at) => {
    mark(buttons, at === null ? SUM : String(at + 1));
    lines.show(at);
    if (at !== null) play.show(at);
  };
  return { elements: [play.element, buttons, lines.element], show };
}

/**
 * Shows maps over one text.
 *
 * @param kinds as in `pairsView`; the rows of the chosen one are shown one by one, or their sum.
 * @param state the user's choices: map, step (a row; else the sum), kept (a word).
 * @param change as in `pairsView`.
 */
export function shadedView({ kinds, state, change }) {
  const picked = pickMap(kinds, state.map);
  const shown = words(picked.columnTokens);
  const step = Number(state.step);
  let row = step >= 1 && step <= picked.weights.length ? step - 1 : null;
  const merged = merge(
    picked.weights,
    picked.weights.map((_, at) => ({ members: [at] })),
    shown,
  );
  const sums = shown.map((_, column) => merged.reduce((sum, one) => sum + one[column], 0));
  const weightsOf = () => (row === null ? sums : merged[row]);
  const largestOf = () => Math.max(1e-9, ...weightsOf());
  const found = /^column\.(\d+)$/.exec(state.kept ?? "");
  let kept = found && Number(found[1]) < shown.length ? Number(found[1]) : null;
  const readout = make("p", { class: "readout" });
  const list = new TokenList({
    label: picked.columnTitle,
    words: shown,
    kind: "prose",
    look: (position) => show(position ?? kept),
    keep: (position) => {
      kept = position;
      change({ kept: position === null ? "" : `column.${position}` }, { redraw: false });
      show(kept);
    },
  });
  const scale = make("div", {});

  /** Tells the weight of a word; of a sum also of the steps that it is mostly made of. */
  function told(position) {
    const weight = decimals(weightsOf()[position]);
    if (row !== null || merged.length < 2) return weight;
    const steps = picked.rowTokens.map((text) => ({ text }));
    const most = strongest(merged.map((one) => one[position]), steps, TOLD);
    return most ? `${weight}, most in ${most}` : weight;
  }
  function show(position) {
    list.heat(weightsOf(), largestOf());
    list.activate(position);
    list.pin(kept);
    readout.textContent =
      position === null
        ? `Most weight: ${strongest(weightsOf(), shown) || "–"}`
        : `${apart(shown[position].text)}: ${told(position)}`;
  }
  const steps = stepsOf(picked, merged, row, (at) => {
    change({ step: at === null ? "" : String(at + 1) }, { redraw: false });
    lay(at);
  });

  /** Shows a step, or the sum of all. */
  function lay(at) {
    row = at;
    steps.show(row);
    scale.replaceChildren(scaleOf(largestOf(), "attention"));
    shown.forEach((_, position) => list.describe(position, `weight ${told(position)}`));
    show(kept);
  }
  lay(row);
  const chooser = mapChooser({
    kinds,
    shown: picked.id,
    choose: (id) => change({ map: id, kept: "" }),
  });
  chooser.append(...steps.elements);
  if (steps.elements.length) chooser.classList.add("stepping");
  const figure = make("div", { class: "figure" }, list.element, scale);
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
