// Draws the soft parents of the words of a sentence as arcs above it.

import { draw, make } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { placed, written } from "./pairs.js";
import { TokenList } from "./tokens.js";
import { apart, merge, pieces, strongest, words } from "./words.js";

const FAINTEST = 0.05; // arcs of less probability are not drawn, as in `zoo.plots.arcs`
const LETTER = 8.6; // pixels, about, of a word's letter
const NARROWEST = 28; // pixels of a word, so that short ones can be pointed at
const WIDEST = 130; // longer words are cut
const LEAST_HEIGHT = 60; // pixels above the words
const MOST_HEIGHT = 240;
const ABOVE = 6; // pixels above the highest arc
const MARK = 3.5; // half the width of the mark at a child
const NOTE = "Arcs go from parents to children, whose end is marked; darker is more probable.";

/** Lists the arcs that are drawn, the most probable last, so that it lies above the others. */
function arcsOf(weights) {
  return weights
    .flatMap((row, child) => row.map((chance, parent) => ({ child, parent, chance })))
    .filter(({ chance }) => chance >= FAINTEST)
    .sort((one, other) => one.chance - other.chance);
}

function outline({ child, parent }, cell, base, highest) {
  const middle = (position) => (position + 0.5) * cell;
  if (child === parent) {
    const radius = cell / 6; // a word that is its own parent has a ring
    return `M${middle(child)} ${base}a${radius} ${radius} 0 1 1 0.01 0`;
  }
  const [left, right] = [child, parent].map(middle).sort((a, b) => a - b);
  const across = (right - left) / 2;
  const up = ((base - ABOVE) * Math.abs(child - parent)) / highest;
  return `M${left} ${base}A${across} ${up.toFixed(1)} 0 0 1 ${right} ${base}`;
}

function drawArcs(weights, cell) {
  const arcs = arcsOf(weights);
  const highest = Math.max(1, ...arcs.map(({ child, parent }) => Math.abs(child - parent)));
  const base = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, (highest * cell) / 2));
  const [width, height] = [cell * weights.length, base + 2 * MARK];
  const drawn = arcs.map((arc) => {
    const at = (arc.child + 0.5) * cell;
    const shown = { "stroke-opacity": arc.chance.toFixed(3), "fill-opacity": arc.chance.toFixed(3) };
    const line = { d: outline(arc, cell, base, highest), class: "bow" };
    const mark = `M${at - MARK} ${base}h${2 * MARK}l${-MARK} ${2 * MARK}z`;
    const group = draw(
      "g",
      { class: "arc" },
      draw("path", { ...line, ...shown, "stroke-width": (0.7 + 2.3 * arc.chance).toFixed(2) }),
      draw("path", { d: mark, class: "tip", ...shown }),
    );
    return { ...arc, group };
  });
  const picture = draw(
    "svg",
    { class: "arcs", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    ...drawn.map(({ group }) => group),
  );
  return { picture, drawn };
}

/**
 * Shows maps from the words of a sentence to words of the same sentence.
 *
 * @param kinds as in `pairsView`: row j of the chosen one holds the probabilities of the parents of
 *   word j.
 * @param state, change, looked as in `pairsView`.
 */
export function arcsView({ kinds, state, change, looked }) {
  const picked = pickMap(kinds, state.map);
  const shown = (state.pieces ? pieces : words)(picked.columnTokens);
  const weights = merge(picked.weights, shown, shown);
  const letters = Math.max(...shown.map(({ text }) => [...text].length));
  const cell = Math.round(Math.min(WIDEST, Math.max(NARROWEST, 12 + LETTER * letters)));
  const { picture, drawn } = drawArcs(weights, cell);
  const from = placed(state.kept)?.row;
  let kept = from < shown.length ? from : null;

  const readout = make("p", { class: "readout" });
  const list = new TokenList({
    label: picked.of,
    words: shown,
    kind: "arched",
    look: (position) => {
      highlight(position ?? kept);
      looked(position === null ? null : { of: picked.of, position, text: shown[position].text });
    },
    keep: (position) => {
      kept = position;
      change({ kept: position === null ? "" : written({ row: position }) }, { redraw: false });
      highlight(kept);
    },
  });
  list.element.style.setProperty("--cell", `${cell}px`);
  const parents = (position) => strongest(weights[position], shown) || "no parent";
  shown.forEach((_, position) => list.describe(position, `parents: ${parents(position)}`));

  function highlight(position) {
    picture.classList.toggle("focused", position !== null);
    for (const { child, group } of drawn) group.classList.toggle("on", child === position);
    list.heat(position === null ? null : weights[position], 1);
    list.activate(position);
    list.pin(kept);
    readout.textContent =
      position === null
        ? "Point at a word to see its parents."
        : `${apart(shown[position].text)} ← ${parents(position)}`;
  }
  highlight(kept);
  const chooser = mapChooser({
    kinds,
    shown: picked.id,
    choose: (id) => change({ map: id, kept: "" }),
  });
  const box = make("div", { class: "scroller" }, picture, list.element);
  const figure = make("div", { class: "figure" }, box, make("p", { class: "note", text: NOTE }));
  return {
    elements: [chooser, readout, figure],
    figure,
    follow: (at) => {
      const here = at?.of === picked.of && shown[at.position]?.text === at.text;
      highlight(here ? at.position : kept);
    },
  };
}
