// Makes elements. Text is only ever set as text, so that nothing a user types can become HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") element.textContent = value;
    else if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children);
  return element;
}

/** Makes an HTML element. Properties are attributes, `text`, or listeners by event. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Makes an SVG element; properties as in `make`. */
export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Formats a number between 0 and 1. */
export function decimals(value) {
  return Number.isFinite(value) ? value.toFixed(2) : "–";
}

/** Makes a labelled bar, its length relative to the largest weight. */
export function chanceBar(text, chance, largest = 1) {
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--w", chance / largest);
  return make(
    "span",
    { class: "candidate" },
    make("span", { class: "estimate", dir: "auto", text }),
    bar,
    make("span", { class: "chances", text: decimals(chance) }),
  );
}

/** Marks the button of a choice without calling anything. */
export function mark(group, value) {
  for (const button of group.querySelectorAll("[role=radio]")) {
    const chosen = button.dataset.value === value;
    button.setAttribute("aria-checked", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    if (chosen && group.contains(document.activeElement)) button.focus();
  }
}

/** Makes the colour scale, from 0 to the largest weight. */
export function scaleOf(largest, title) {
  return make(
    "p",
    { class: "scale" },
    make("span", { text: title }),
    make("span", { text: "0" }),
    make("span", { class: "ramp", "aria-hidden": "true" }),
    make("span", { text: decimals(largest) }),
  );
}

/** Makes a group of radio buttons, moved by arrow keys, Home and End; `columns`: those of a grid. */
export function choice({ label, options, chosen, choose, kind = "choice", columns = 1 }) {
  const buttons = options.map(({ value, content, title }) =>
    make(
      "button",
      {
        type: "button",
        role: "radio",
        class: "option",
        "aria-label": title,
        title,
        "aria-checked": value === chosen ? "true" : "false",
        tabindex: value === chosen ? "0" : "-1",
        "data-value": value,
        click: () => choose(value),
      },
      content,
    ),
  );
  if (!options.some(({ value }) => value === chosen) && buttons.length) buttons[0].tabIndex = 0;
  const steps = new Map([
    ["ArrowRight", 1],
    ["ArrowLeft", -1],
    ["ArrowDown", columns],
    ["ArrowUp", -columns],
  ]);
  const group = make("div", {
    class: kind,
    role: "radiogroup",
    "aria-label": label,
    keydown: (event) => {
      const at = buttons.indexOf(document.activeElement);
      const ends = { Home: buttons[0], End: buttons.at(-1) };
      const next = ends[event.key] ?? buttons[at + (steps.get(event.key) ?? NaN)];
      if (!next) return;
      event.preventDefault();
      choose(next.dataset.value);
    },
  });
  group.append(...buttons);
  return group;
}
