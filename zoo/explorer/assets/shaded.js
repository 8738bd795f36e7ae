// Shades each word of a text by its weight: of a single map, or of one step after the other.

import { choice, decimals, make, scaleOf } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { TokenList } from "./tokens.js";
import { apart, merge, strongest, words } from "./words.js";

const SUM = "sum"; // of all steps; shown until one is chosen

/** Makes the buttons of the steps; null for a single one. */
function stepsOf(picked, row, change) {
  const { length } = picked.rowTokens;
  if (length < 2) return null;
  const sum = { value: SUM, title: `sum of all ${length}`, content: SUM };
  const steps = picked.rowTokens.map((title, at) => {
    return { value: String(at + 1), title, content: String(at + 1) };
  });
  return choice({
    label: picked.rowTitle,
    chosen: row === null ? SUM : String(row + 1),
    options: [sum, ...steps],
    choose: (step) => change({ step: step === SUM ? "" : step, kept: "" }),
  });
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
  shown.forEach((_, position) => list.describe(position, `weight ${decimals(weights[position])}`));

  function show(position) {
    list.heat(weights, largest);
    list.activate(position);
    list.pin(kept);
    readout.textContent =
      position === null
        ? `Most weight: ${strongest(weights, shown) || "–"}`
        : `${apart(shown[position].text)}: ${decimals(weights[position])}`;
  }
  show(kept);
  const chooser = mapChooser({
    kinds,
    shown: picked.id,
    choose: (id) => change({ map: id, step: "", kept: "" }),
  });
  chooser.append(stepsOf(picked, row, change) ?? "");
  const figure = make("div", { class: "figure" }, list.element, scaleOf(largest, "attention"));
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
