// What a page looks like, measured where it is drawn.

function rgba(color) {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
}

const over = ([red, green, blue, alpha], below) =>
  [red, green, blue].map((part, at) => part * alpha + below[at] * (1 - alpha));

function luminance(color) {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** All colours that lie behind an element: one, or those at the ends of its gradients. */
function papers(element) {
  const chain = [];
  for (let one = element; one; one = one.parentElement) chain.unshift(one);
  let found = [[255, 255, 255]];
  for (const one of chain) {
    const style = getComputedStyle(one);
    found = found.map((below) => over(rgba(style.backgroundColor), below));
    const stops = style.backgroundImage.match(/(?:rgba?|color)\([^)]*\)/g);
    if (stops) found = stops.flatMap((stop) => found.map((below) => over(rgba(stop), below)));
  }
  return found;
}

/** The least contrast of the words that are seen, and the word that has it. */
function leastContrast(root = document.body) {
  let least = [99, ""];
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const element = node.parentElement;
    const box = element.getBoundingClientRect();
    if (!node.data.trim() || !box.width || element.closest("option, noscript")) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    for (const paper of papers(element)) {
      const found = contrast(over(ink, paper), paper);
      if (found < least[0]) least = [found, `${node.data} (${element.getAttribute("class")})`];
    }
  }
  return least;
}

/** The contrast of the strongest cell of a thumbnail to its paper. */
function cellContrast(canvas) {
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const [paper] = papers(canvas);
  let most = 0;
  for (let at = 0; at < data.length; at += 4) {
    const cell = [...data.slice(at, at + 3), data[at + 3] / 255];
    most = Math.max(most, contrast(over(cell, paper), paper));
  }
  return most;
}

/** How many boxes cover a part of the one before them, in the order in which they stand. */
function overlaps(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  return boxes.slice(1).filter((box, at) => {
    const [wide, high] = [
      Math.min(box.right, boxes[at].right) - Math.max(box.left, boxes[at].left),
      Math.min(box.bottom, boxes[at].bottom) - Math.max(box.top, boxes[at].top),
    ];
    return wide > 0.5 && high > 0.5;
  }).length;
}

/** Words as they stand on the page, line by line and from left to right. */
function asSeen(boxes) {
  const order = boxes.map((box, at) => ({ middle: (box.top + box.bottom) / 2, box, at }));
  order.sort((one, other) => one.middle - other.middle);
  const begins = (one, at) => at > 0 && one.middle - order[at - 1].middle > 8; // pixels
  let line = 0;
  order.forEach((one, at) => (one.line = begins(one, at) ? ++line : line));
  order.sort((one, other) => one.line - other.line || one.box.left - other.box.left);
  return order.map(({ at }) => at);
}

/** The order in which words of a list are seen, and in which a plain text has them. */
function orders(list, text) {
  const plain = list.cloneNode(false);
  plain.textContent = text;
  list.after(plain);
  const range = document.createRange();
  let from = 0;
  const expected = [...list.querySelectorAll(".token")].map(({ textContent: word }) => {
    const begin = text.indexOf(word, from);
    from = begin + word.length;
    range.setStart(plain.firstChild, begin);
    range.setEnd(plain.firstChild, from);
    return range.getBoundingClientRect();
  });
  const seen = [...list.querySelectorAll(".token")].map((token) => token.getBoundingClientRect());
  const found = [asSeen(seen), asSeen(expected)];
  plain.remove();
  return found;
}
