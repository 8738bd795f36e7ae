// A text, each word as dark as its weight.

import { decimals, make, scaleOf } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { TokenList } from "./tokens.js";
import { apart, merge, strongest, words } from "./words.js";

/**
 * Shows maps over one text.
 *
 * @param kinds as in `pairsView`; of the one that is chosen the first row is shown.
 * @param state, change as in `pairsView`.
 */
export function shadedView({ kinds, state, change }) {
  const picked = pickMap(kinds, state.map);
  const shown = words(picked.columnTokens);
  const [weights] = merge(picked.weights, [{ members: [0] }], shown);
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
    choose: (id) => change({ map: id, kept: "" }),
  });
  const figure = make("div", { class: "figure" }, list.element, scaleOf(largest, "attention"));
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
