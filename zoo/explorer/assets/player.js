// Runs through the steps of an answer: play, pause, and a slider.

import { make } from "./elements.js";

const WHOLE = 8000; // milliseconds, about, of all steps
const [FASTEST, SLOWEST] = [60, 700]; // milliseconds of a step

/**
 * Makes the controls of steps.
 *
 * @param label name of a step, such as "glimpse".
 * @param count number of steps.
 * @param at the step shown first, from 0.
 * @param told tells a step, for screen readers.
 * @param go called with a step that is to be shown.
 * @returns {element, show}; `show` moves the slider to a step that was chosen elsewhere.
 */
export function player({ label, count, at, told, go }) {
  const pace = Math.min(Math.max(WHOLE / count, FASTEST), SLOWEST);
  let timer = null;
  const button = make("button", { type: "button", class: "play", text: "Play", click: () => toggle() });
  const slider = make("input", {
    type: "range",
    min: 1,
    max: count,
    value: at + 1,
    "aria-label": label,
    input: () => {
      pause();
      move(Number(slider.value) - 1);
    },
  });
  const place = make("span", { class: "place" });

  function show(step) {
    slider.value = step + 1;
    slider.setAttribute("aria-valuetext", told(step));
    place.textContent = `${label} ${step + 1} of ${count}`;
  }
  function move(step) {
    show(step);
    go(step);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  }
  function advance() {
    const next = Number(slider.value);
    if (!slider.isConnected || next >= count) pause();
    else move(next);
  }
  function toggle() {
    if (timer !== null) {
      pause();
      return;
    }
    if (Number(slider.value) >= count) move(0);
    button.textContent = "Pause";
    timer = setInterval(advance, pace);
  }
  show(at);
  return { element: make("div", { class: "player" }, button, slider, place), show };
}
