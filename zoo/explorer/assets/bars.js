// Features or other named things, with a bar for the weight of each.

import { chanceBar, make } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { pieces, strongest } from "./words.js";

/**
 * Shows maps as bars: a group for each row, a bar for each column.
 *
 * @param kinds as in `pairsView`.
 * @param state, change as in `pairsView`.
 */
export function barsView({ kinds, state, change }) {
  const picked = pickMap(kinds, state.map);
  const [rows, columns] = [pieces(picked.rowTokens), pieces(picked.columnTokens)];
  const largest = Math.max(1e-9, ...picked.weights.flat());
  const groups = picked.weights.map((weights, row) =>
    make(
      "section",
      { class: "bars", "aria-label": rows[row].said || picked.title },
      make("p", { class: "caption", text: picked.rowTokens[row] && rows[row].text }),
      ...columns.map(({ text }, column) => chanceBar(text, weights[column], largest)),
    ),
  );
  const most = picked.weights.map((weights) => strongest(weights, columns, 1)).join("; ");
  const readout = make("p", { class: "readout", text: `Most weight: ${most || "–"}` });
  const chooser = mapChooser({ kinds, shown: picked.id, choose: (id) => change({ map: id }) });
  const figure = make("div", { class: "figure groups" }, ...groups);
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
