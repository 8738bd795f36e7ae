// The maps that an answer holds, and a thumbnail of each layer and head to choose one by.

import { choice, make } from "./elements.js";

const COLOR = [70, 130, 190]; // seen on light and on dark paper alike

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

function thumbnail({ weights }) {
  const [rows, columns] = [weights.length, weights[0].length];
  const canvas = make("canvas", {
    width: columns,
    height: rows,
    class: "thumbnail",
    "aria-hidden": "true",
  });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  weights
    .flat()
    .forEach((weight, position) =>
      image.data.set([...COLOR, Math.round(255 * weight)], 4 * position),
    );
  context.putImageData(image, 0, 0);
  return canvas;
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
    const chosen = maps.find(({ id }) => id === shown);
    const order =
      depthOf(kind.weights) === 2
        ? "A row a layer, a column a head, and last their mean."
        : "From the lowest layer to the highest.";
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
