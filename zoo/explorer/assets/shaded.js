// Shades each word of a text by its weight: of a single map, or of one step after the other.

import { choice, decimals, make, scaleOf } from "./elements.js";
import { mapChooser, pickMap, thumbnail } from "./heads.js";
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
function overviewOf(picked, weights, row, choose) {
  const canvas = thumbnail({ weights }, FINEST);
  const element = make("div", { class: "lines", "aria-hidden": "true" }, canvas);
  element.style.setProperty("--count", weights.length);
  const lineAt = ({ clientY }) => {
    const { top, height } = element.getBoundingClientRect();
    const line = Math.floor(((clientY - top) / height) * weights.length);
    return Math.max(0, Math.min(line, weights.length - 1));
  };
  element.addEventListener("click", (event) => choose(String(lineAt(event) + 1)));
  element.addEventListener("pointermove", (event) => {
    element.title = picked.rowTokens[lineAt(event)];
  });
  if (row !== null) {
    const frame = make("div", { class: "line" });
    frame.style.setProperty("--line", row);
    element.append(frame);
  }
  return element;
}

/** Makes the controls of several steps; nothing for a single one. */
function stepsOf(picked, weights, row, change) {
  if (picked.rowTokens.length < 2) return [];
  const choose = (step) => change({ step: step === SUM ? "" : step });
  return [buttonsOf(picked, row, choose), overviewOf(picked, weights, row, choose)];
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
  const row = step >= 1 && step <= picked.weights.length ? step - 1 : null;
  const merged = merge(
    picked.weights,
    picked.weights.map((_, at) => ({ members: [at] })),
    shown,
  );
  const sums = shown.map((_, column) => merged.reduce((sum, one) => sum + one[column], 0));
  const weights = row === null ? sums : merged[row];
  const largest = Math.max(1e-9, ...weights);
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
  shown.forEach((_, position) => list.describe(position, `weight ${told(position)}`));

  /** Tells the weight of a word; of a sum also of the steps that it is mostly made of. */
  function told(position) {
    const weight = decimals(weights[position]);
    if (row !== null || merged.length < 2) return weight;
    const steps = picked.rowTokens.map((text) => ({ text }));
    const most = strongest(merged.map((one) => one[position]), steps, TOLD);
    return most ? `${weight}, most in ${most}` : weight;
  }
  function show(position) {
    list.heat(weights, largest);
    list.activate(position);
    list.pin(kept);
    readout.textContent =
      position === null
        ? `Most weight: ${strongest(weights, shown) || "–"}`
        : `${apart(shown[position].text)}: ${told(position)}`;
  }
  show(kept);
  const chooser = mapChooser({
    kinds,
    shown: picked.id,
    choose: (id) => change({ map: id, kept: "" }),
  });
  const steps = stepsOf(picked, merged, row, change);
  chooser.append(...steps);
  if (steps.length) chooser.classList.add("stepping");
  const figure = make("div", { class: "figure" }, list.element, scaleOf(largest, "attention"));
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
