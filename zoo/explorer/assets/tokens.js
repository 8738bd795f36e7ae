// Makes lists of words that respond to pointer and keyboard.

import { make } from "./elements.js";

// Shares of the largest weight from which on the colour of paper is easier to read than that of
// ink: on dark paper sooner than on light. On either side the contrast is 4.58 or more.
const STRONG = { "strong-dark": 0.566, "strong-light": 0.817 };

const SIDEWAYS = new Map([
  ["ArrowRight", 1],
  ["ArrowLeft", -1],
]);
const ALONG = new Map([
  ["ArrowDown", 1],
  ["ArrowUp", -1],
]);

/**
 * Makes a list of words of which one at a time is highlighted.
 *
 * @param label of the list, for screen readers.
 * @param words as words.js makes them.
 * @param look called with the highlighted position, or null.
 * @param keep called with the position to keep highlighted, or null.
 * @param cross called with a position when an arrow leads out of a vertical list.
 * @param gaps text between the words, before each; a space if not given.
 */
export class TokenList {
  constructor({ label, words, look, keep, cross, gaps, vertical = false, kind = "" }) {
    this.words = words;
    this.vertical = vertical;
    this.calls = { look, keep, cross };
    this.kept = null;
    this.items = words.map((word, position) => this.#item(word, position));
    this.element = make(vertical ? "ul" : "p", {
      class: `tokens ${kind}`,
      role: "listbox",
      dir: vertical ? null : "auto",
      "aria-label": label,
      "aria-orientation": vertical ? "vertical" : "horizontal",
      keydown: (event) => this.#key(event),
      pointerover: (event) => this.#point(event.target),
      pointerleave: () => look(null),
      focusin: (event) => this.#point(event.target),
      focusout: (event) => {
        if (!this.element.contains(event.relatedTarget)) look(null);
      },
      click: (event) => {
        const item = event.target.closest(".token");
        if (item) this.#toggle(Number(item.dataset.position));
      },
    });
    this.items.forEach((item, position) => {
      if (!vertical) this.element.append(gaps ? gaps[position] : position ? " " : "");
      this.element.append(item);
    });
    if (gaps?.length > words.length) this.element.append(gaps.at(-1));
    if (this.items.length) this.items[0].tabIndex = 0;
  }

  /** Colours the words by their weight, the largest darkest; null: not at all. */
  heat(weights, largest) {
    const most = largest ?? Math.max(1e-9, ...(weights ?? []));
    this.items.forEach((item, position) => {
      const share = weights ? Math.min(1, Math.max(0, weights[position]) / most) : 0;
      item.style.setProperty("--w", share.toFixed(3));
      for (const [kind, least] of Object.entries(STRONG))
        item.classList.toggle(kind, share > least);
      item.classList.toggle("linked", share >= 0.1);
    });
  }

  /** Frames the highlighted word; null: none. */
  activate(position) {
    this.items.forEach((item, other) => item.classList.toggle("active", other === position));
  }

  /** Marks the word that stays highlighted; null: none. */
  pin(position) {
    this.kept = position;
    this.items.forEach((item, other) => {
      item.setAttribute("aria-selected", other === position ? "true" : "false");
    });
  }

  focus(position) {
    const item = this.items[Math.max(0, Math.min(position, this.items.length - 1))];
    if (!item) return;
    for (const other of this.items) other.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  /** Describes a word to screen readers. */
  describe(position, text) {
    this.items[position]?.setAttribute("aria-label", `${this.words[position].said}: ${text}`);
  }

  #item(word, position) {
    return make(this.vertical ? "li" : "span", {
      class: word.special ? "token special" : "token",
      role: "option",
      tabindex: "-1",
      // Running text has one direction, that of all its words together.
      dir: this.vertical ? "auto" : null,
      "aria-selected": "false",
      "data-position": position,
      "aria-label": word.said,
      title: this.vertical && word.text.length > 14 ? word.text : null,
      text: word.text,
    });
  }

  #point(target) {
    const item = target.closest?.(".token");
    this.calls.look(item ? Number(item.dataset.position) : null);
  }

  #toggle(position) {
    this.focus(position);
    this.calls.keep(this.kept === position ? null : position);
  }

  #key(event) {
    const at = this.items.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const mirrored = !this.vertical && getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const sideways = (SIDEWAYS.get(event.key) ?? 0) * mirrored;
    const along = ALONG.get(event.key) ?? 0;
    if (this.vertical && sideways) this.calls.cross?.(at, sideways);
    else if (sideways || along) this.focus(at + (sideways || along));
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(this.items.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.#toggle(at);
    else if (event.key === "Escape") this.calls.keep(null);
    else return;
    event.preventDefault();
  }
}
