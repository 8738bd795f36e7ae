// The maps that an answer holds, and a thumbnail of each layer and head to choose one by.

import { choice, make } from "./elements.js";

const FINEST = 64; // cells of a side of a thumbnail: of more, the largest weight is shown

const mean = (maps) =>
  maps[0].map((row, r) =>
    row.map((_, c) => maps.reduce((sum, map) => sum + map[r][c], 0) / maps.length),
  );

/** How many axes of layers and heads come before rows and columns. */
function depthOf(weights) {
  let depth = -2;
  for (let inner = weights; Array.isArray(inner); [inner] = inner) depth += 1;
  return Math.max(0, depth);
}

/**
 * All single maps of a kind.
 *
 * @param kind {id, title, weights, ...} with weights (rows, columns), (layers, rows, columns) or
 *   (layers, heads, rows, columns).
 * @returns maps {id, title, weights}, layer by layer, with the mean of its heads last, and the
 *   number of maps of a layer.
 */
export function mapsOf(kind) {
  const depth = depthOf(kind.weights);
  if (!depth)
    return { columns: 1, maps: [{ id: kind.id, title: kind.title, weights: kind.weights }] };
  const name = (layer) => `layer ${layer + 1}`;
  if (depth === 1) {
    const maps = kind.weights.map((weights, layer) => ({
      id: `${kind.id}.${layer + 1}`,
      title: name(layer),
      weights,
    }));
    return { columns: maps.length, maps };
  }
  const maps = kind.weights.flatMap((heads, layer) => [
    ...heads.map((weights, head) => ({
      id: `${kind.id}.${layer + 1}.${head + 1}`,
      title: `${name(layer)}, head ${head + 1}`,
      weights,
    })),
    {
      id: `${kind.id}.${layer + 1}.mean`,
      title: `${name(layer)}, mean of its heads`,
      weights: mean(heads),
    },
  ]);
  return { columns: kind.weights[0].length + 1, maps };
}

/** The weights in no more than so many rows and columns, of those that fall together the largest. */
export function pooled(weights, most) {
  const rows = Math.min(most, weights.length);
  const columns = Math.min(most, weights[0].length);
  const found = Array.from({ length: rows }, () => Array(columns).fill(0));
  weights.forEach((row, r) => {
    const into = found[Math.floor((r * rows) / weights.length)];
    row.forEach((weight, c) => {
      const at = Math.floor((c * columns) / row.length);
      into[at] = Math.max(into[at], weight);
    });
  });
  return found;
}

/** The colour of weights on the paper of the moment, as three numbers. */
function weightColor() {
  const context = make("canvas", { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--weight");
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** A small picture of a map, its largest weight as dark as the scale goes. */
export function thumbnail({ weights }, finest = FINEST) {
  const small = pooled(weights, finest);
  const [rows, columns] = [small.length, small[0].length];
  const largest = Math.max(1e-9, ...small.map((row) => Math.max(...row)));
  const color = weightColor();
  const canvas = make("canvas", {
    width: columns,
    height: rows,
    class: "thumbnail",
    "aria-hidden": "true",
  });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  small
    .flat()
    .forEach((weight, position) =>
      image.data.set([...color, Math.round((255 * weight) / largest)], 4 * position),
    );
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Writes the numbers of layers and heads beside a grid of thumbnails. */
function nameAxes(grid, kind, columns) {
  const note = (name, text) => make("span", { class: name, "aria-hidden": "true", text });
  const buttons = [...grid.children];
  const heads = depthOf(kind.weights) === 2;
  const names = buttons
    .slice(0, columns)
    .map((_, column) => (heads && column === columns - 1 ? "mean" : `${column + 1}`));
  grid.prepend(
    note("corner-name", heads ? "head" : "layer"),
    ...names.map((name) => note("column-name", name)),
  );
  buttons.forEach((button, position) => {
    if (position % columns === 0)
      button.before(note("row-name", heads ? `layer ${position / columns + 1}` : ""));
  });
}

/**
 * Buttons for the kinds of maps and, of the kind that is shown, for its layers and heads.
 *
 * @param kinds as in `mapsOf`.
 * @param shown id of the map that is shown.
 * @param choose called with the id of another one.
 * @param extra an element beside the kinds.
 */
export function mapChooser({ kinds, shown, choose, extra = "" }) {
  const parts = [];
  const first = (kind) =>
    mapsOf(kind).maps.at(depthOf(kind.weights) === 2 ? mapsOf(kind).columns - 1 : -1).id;
  const [kindShown] = shown.split(".");
  if (kinds.length > 1 || extra) {
    const buttons =
      kinds.length > 1 &&
      choice({
        label: "Which attention",
        chosen: kindShown,
        options: kinds.map(({ id, title }) => ({ value: id, content: title, title })),
        choose: (id) => choose(first(kinds.find((kind) => kind.id === id))),
      });
    parts.push(make("div", { class: "row" }, buttons || "", extra));
  }
  const kind = kinds.find(({ id }) => id === kindShown);
  const { maps, columns } = mapsOf(kind);
  if (maps.length > 1) {
    const grid = choice({
      label: "Layer and head",
      chosen: shown,
      kind: "grid",
      columns,
      options: maps.map((map) => ({ value: map.id, content: thumbnail(map), title: map.title })),
      choose,
    });
    grid.style.setProperty("--columns", columns);
    nameAxes(grid, kind, columns);
    const chosen = maps.find(({ id }) => id === shown);
    const words = kind.rowTitle
      ? `In each, a row a word ${kind.rowTitle}, a column a word ${kind.columnTitle}.`
      : "In each, a row a word, a column an earlier one.";
    const order = `${kind.sides ?? words} The largest weight of each is furthest from the paper.`;
    parts.push(
      make(
        "div",
        { class: "heads" },
        grid,
        make("p", { class: "chosen" }, make("b", { text: chosen?.title ?? "" }), make("br"), order),
      ),
    );
  }
  return make("div", { class: "controls" }, ...parts);
}

/** The map of an id such as "cross.2.1"; the first of all if there is none. */
export function pickMap(kinds, id) {
  for (const kind of kinds) {
    for (const map of mapsOf(kind).maps) if (map.id === id) return { ...kind, ...map };
  }
  return { ...kinds[0], ...mapsOf(kinds[0]).maps[0] };
}
