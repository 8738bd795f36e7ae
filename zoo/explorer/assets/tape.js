// Shows a text read from left to right, and the earlier words that each word attended to.

import { make } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { matrix, scrolling } from "./matrix.js";
import { placed, written } from "./pairs.js";
import { TokenList } from "./tokens.js";
import { apart, pieces, strongest } from "./words.js";

const BEFORE = {
  text: "before",
  said: "all that stands before the text",
  special: true,
  members: [],
};

/**
 * Shows the attention of a reader with a tape.
 *
 * @param kinds one kind of map, weights (layers, T, T + 1), whose last column stands before the text.
 * @param tokens the T tokens.
 * @param state, change as in `pairsView`.
 */
export function tapeView({ kinds, tokens, state, change, width }) {
  const picked = pickMap(kinds, state.map || `${kinds[0].id}.${kinds[0].weights.length}`);
  const own = pieces(tokens);
  const columns = [BEFORE, ...own];
  // The column for "before the text" comes first, in reading order.
  const weights = picked.weights.map((row) => [row.at(-1), ...row.slice(0, tokens.length)]);
  const largest = Math.max(1e-9, ...weights.map((row) => Math.max(...row)));
  const map = {
    ...picked,
    rows: own,
    columns,
    weights,
    largest,
    rowTitle: "word read",
    columnTitle: "earlier words",
  };
  let kept = placed(state.kept)?.row ?? tokens.length - 1;
  if (kept >= tokens.length) kept = tokens.length - 1;
  let pinned = placed(state.kept)?.row === kept;

  const readout = make("p", { class: "readout" });
  const keep = (position) => {
    pinned = position !== null;
    kept = position ?? tokens.length - 1;
    change({ kept: position === null ? "" : written({ row: kept }) }, { redraw: false });
    highlight(kept);
  };
  const text = new TokenList({
    label: "Text",
    words: columns,
    kind: "prose",
    look: (position) => highlight(position ? position - 1 : kept),
    keep: (position) => keep(position ? position - 1 : null),
  });
  own.forEach((_, row) =>
    text.describe(row + 1, `read beside ${strongest(weights[row], columns) || "nothing"}`),
  );
  const grid = matrix({
    map,
    width: Math.min(width, 720),
    look: (at) => highlight(at?.row ?? kept),
    keep: (at) => keep(at?.row ?? null),
  });

  function highlight(row) {
    text.heat(weights[row], largest);
    text.activate(row + 1);
    text.pin(pinned ? kept + 1 : null);
    grid.highlight({ row });
    readout.textContent = `${apart(own[row].text)} → ${strongest(weights[row], columns) || "–"}`;
  }
  highlight(kept);
  const chooser = mapChooser({ kinds, shown: picked.id, choose: (id) => change({ map: id }) });
  const figure = make("div", { class: "figure" }, text.element, scrolling(grid, largest));
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
