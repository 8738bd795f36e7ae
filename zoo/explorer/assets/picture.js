// Saves what a pane shows as a picture: its elements drawn again as one SVG, with no style sheet.

import { draw } from "./elements.js";

const MARGIN = 16;
const SCALE = 2; // pixels of a PNG for each of the page, if it does not become too large:
const LARGEST_SIDE = 16_000; // pixels
const LARGEST_AREA = 64e6;
const DRAWN = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "opacity",
  "image-rendering",
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "text-anchor",
];

/** A computed colour as an SVG of any age has it: "rgb(…)" and an opacity; null if not seen. */
export function paint(color) {
  const numbers = (/\(([^)]*)\)/.exec(color)?.[1] ?? "")
    .match(/-?[\d.]+(e-?\d+)?%?/g)
    ?.map(parseFloat);
  if (!numbers || numbers.length < 3) return null;
  const unit = color.startsWith("color(") ? 255 : 1;
  const [red, green, blue] = numbers
    .slice(0, 3)
    .map((part) => Math.round(Math.min(255, Math.max(0, part * unit))));
  const alpha = numbers[3] ?? 1;
  return alpha > 0 ? { color: `rgb(${red},${green},${blue})`, alpha } : null;
}

const box = (rectangle, origin) => ({
  x: (rectangle.left - origin.x).toFixed(1),
  y: (rectangle.top - origin.y).toFixed(1),
  width: rectangle.width.toFixed(1),
  height: rectangle.height.toFixed(1),
});

/** Text with the replacement mark for what XML forbids: controls, lone surrogates, U+FFFE. */
export function allowedInXml(text) {
  return text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}

function filled(place, color) {
  const found = paint(color);
  return found ? [draw("rect", { ...place, fill: found.color, "fill-opacity": found.alpha })] : [];
}

/** A background that runs from one colour to another, sideways. */
function gradient(style, place, defs) {
  const stops = style.backgroundImage.match(/(?:rgba?|color)\([^)]*\)(?:\s+[\d.]+%)?/g);
  if (!style.backgroundImage.startsWith("linear-gradient") || !stops) return [];
  const id = `g${defs.childElementCount}`;
  defs.append(
    draw(
      "linearGradient",
      { id },
      ...stops.map((stop, position) => {
        const offset = /([\d.]+)%$/.exec(stop)?.[1] ?? (100 * position) / (stops.length - 1);
        const found = paint(stop) ?? { color: "rgb(0,0,0)", alpha: 0 };
        return draw("stop", {
          offset: `${offset}%`,
          "stop-color": found.color,
          "stop-opacity": found.alpha,
        });
      }),
    ),
  );
  return [draw("rect", { ...place, fill: `url(#${id})` })];
}

function lines(style, rectangle, origin) {
  const width = parseFloat(style.borderBottomWidth);
  const found =
    width > 0 && style.borderBottomStyle !== "none" ? paint(style.borderBottomColor) : null;
  if (!found) return [];
  const y = (rectangle.bottom - origin.y - width / 2).toFixed(1);
  const [x1, x2] = [rectangle.left - origin.x, rectangle.right - origin.x].map((x) => x.toFixed(1));
  return [
    draw("line", {
      x1,
      x2,
      y1: y,
      y2: y,
      stroke: found.color,
      "stroke-opacity": found.alpha,
      "stroke-width": width,
    }),
  ];
}

/** The frame of a word that is looked at, which the page draws as a shadow. */
function frame(style, place) {
  const found = style.boxShadow === "none" ? null : paint(style.boxShadow);
  return found
    ? [draw("rect", { ...place, rx: 2, fill: "none", stroke: found.color, "stroke-width": 1.5 })]
    : [];
}

/** The words of a text node, each where the browser has put it. */
function letters(node, style, origin, measure) {
  const range = document.createRange();
  measure.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const ascent = measure.measureText("x").fontBoundingBoxAscent;
  const drawn = [];
  for (const match of node.data.matchAll(/\S+/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const rectangle = range.getBoundingClientRect();
    if (!rectangle.width) continue;
    drawn.push(
      draw("text", {
        x: (rectangle.left - origin.x).toFixed(1),
        y: (rectangle.top - origin.y + ascent).toFixed(1),
        fill: paint(style.color)?.color,
        "font-family": style.fontFamily.replaceAll('"', "'"),
        "font-size": style.fontSize,
        "font-style": style.fontStyle,
        "font-weight": style.fontWeight,
        text: match[0],
      }),
    );
  }
  return drawn;
}

/** A drawing of the page with what the style sheet says written into it. */
function copied(picture, origin) {
  const copy = picture.cloneNode(true);
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, position) => {
    const style = getComputedStyle(originals[position]);
    for (const name of DRAWN) {
      const value = style.getPropertyValue(name);
      const found = /^(rgb|color)/.test(value) ? paint(value) : { color: value, alpha: 1 };
      element.setAttribute(name, (found?.color ?? "none").replaceAll('"', "'"));
    }
    element.removeAttribute("class");
  });
  const place = box(picture.getBoundingClientRect(), origin);
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
  return copy;
}

function walk(element, origin, into, defs, measure) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return;
  if (element instanceof HTMLCanvasElement) return; // an overview of what is drawn whole here
  if (element instanceof SVGSVGElement) {
    into.append(copied(element, origin));
    return;
  }
  const rectangle = element.getBoundingClientRect();
  const place = box(rectangle, origin);
  into.append(
    ...filled(place, style.backgroundColor),
    ...gradient(style, place, defs),
    ...lines(style, rectangle, origin),
    ...frame(style, place),
  );
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) into.append(...letters(child, style, origin, measure));
    else if (child.nodeType === Node.ELEMENT_NODE) walk(child, origin, into, defs, measure);
  }
}

/** An element of the page as an SVG by itself, with all that has to be scrolled to on the page. */
export function asSvg(element, title) {
  const boxes = [...element.querySelectorAll(".scroller, .ribbons.long")];
  const hidden = boxes.some(
    (one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1,
  );
  element.style.minWidth = `${element.clientWidth}px`;
  element.classList.toggle("whole", hidden);
  try {
    return drawn(element, title);
  } finally {
    element.classList.remove("whole");
    element.style.minWidth = "";
  }
}

function drawn(element, title) {
  const seen = element.getBoundingClientRect();
  const [width, height] = [
    Math.ceil(Math.max(seen.width, element.scrollWidth) + 2 * MARGIN),
    Math.ceil(seen.height + 2 * MARGIN),
  ];
  const origin = { x: seen.left - MARGIN, y: seen.top - MARGIN };
  const defs = draw("defs");
  const paper = paint(getComputedStyle(document.body).backgroundColor)?.color ?? "white";
  const picture = draw(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}` },
    draw("title", { text: title }),
    defs,
  );
  picture.append(draw("rect", { width, height, fill: paper }));
  walk(element, origin, picture, defs, document.createElement("canvas").getContext("2d"));
  return { text: allowedInXml(new XMLSerializer().serializeToString(picture)), width, height };
}

async function asPng({ text, width, height }) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    const scale = Math.min(
      SCALE,
      LARGEST_SIDE / Math.max(width, height),
      Math.sqrt(LARGEST_AREA / (width * height)),
    );
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Saves an element of the page as NAME.svg or NAME.png. */
export async function savePicture(element, name, ending) {
  const picture = asSvg(element, name);
  const blob =
    ending === "svg" ? new Blob([picture.text], { type: "image/svg+xml" }) : await asPng(picture);
  if (!blob) throw new Error("The picture is too large for this browser: save it as SVG.");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
