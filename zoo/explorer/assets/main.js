// Runs the page: form, address, and a pane for each model.

import { read, write } from "./address.js";
import { fillPane } from "./answers.js";
import { make } from "./elements.js";
import { encoded, fieldsOf, known, makeField, missing, tasks } from "./fields.js";
import { savePicture } from "./picture.js";
import { ask, catalogue, ready } from "./server.js";
import { visible } from "./words.js";

const at = (id) => document.getElementById(id);
const said = at("said");
const FIRST_WORDS = 30; // characters of an example that are shown
let models = [];
let examples = new Map(); // of each task
let state = read(location.hash);
let panes = []; // of each model asked: {element, model, outputs, inputs, view}
let asking = new AbortController();

function say(text, kind = "") {
  said.textContent = text;
  said.className = kind;
}

const find = (name) => models.find((model) => model.name === name);
const beginning = (model) => ({ ...examplesOf(model)[0] });

/** Lists the examples of a task, or the one of the card, whose inputs are those of the model. */
function examplesOf(model) {
  const names = fieldsOf(model).map(({ name }) => name);
  const fill = (example) => names.every((name) => Object.hasOwn(example, name));
  const all = examples.get(model.task) ?? (model.example ? [model.example] : []);
  return names.length ? all.filter(fill) : [];
}

/** Writes the state into the address; `step` adds an entry to the browser's history. */
function remember(step = false) {
  const address = write(state);
  if (address === location.hash) return;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

function fillPickers() {
  const model = find(state.model);
  const option = ({ name, class: title, task, score }) => {
    const parts = [title, visible(task.slice(0, 40)).replaceAll("_", " "), score, name];
    return make("option", { value: name, text: parts.filter(Boolean).join(" · ") });
  };
  at("model").replaceChildren(...models.map(option));
  at("model").value = model.name;
  const others = models.filter(({ name, task }) => task === model.task && name !== model.name);
  const pairs = known(model) ? others : [];
  at("beside").replaceChildren(make("option", { value: "", text: "none" }), ...pairs.map(option));
  at("beside").value = state.beside;
  at("beside-field").hidden = !pairs.length;
  for (const [before, told] of [
    ["", model],
    ["beside-", find(state.beside)],
  ]) {
    at(`${before}about`).textContent = at(`${before}about`).title = told?.about ?? "";
    at(`${before}limitations`).textContent = told?.limitations ? `Not for ${told.limitations}.` : "";
  }
}

/** Cuts a text after whole words. */
function firstWords(text) {
  if (text.length <= FIRST_WORDS) return text;
  return `${text.slice(0, FIRST_WORDS).replace(/[\s,.;]+\S*$/, "")} …`;
}

function fillFields() {
  const model = find(state.model);
  const picked = (error) => (error ? fail(error.message) : at("question").requestSubmit());
  at("fields").replaceChildren(
    ...fieldsOf(model).map((field) => makeField(field, state.inputs[field.name] ?? "", picked)),
  );
  const buttons = examplesOf(model).map((example, number) =>
    make("button", {
      type: "button",
      class: "example",
      text: firstWords(Object.values(example)[0]),
      "aria-label": `Example ${number + 1}: ${firstWords(Object.values(example)[0])}`,
      title: Object.values(example)[0],
      click: () => start({ inputs: { ...example } }),
    }),
  );
  at("examples").replaceChildren(...(buttons.length ? ["Examples: ", ...buttons] : []));
}

/** Changes the user's choices within an answer; `redraw`: update the panes too. */
function change(changed, { redraw = true } = {}) {
  state = { ...state, ...changed };
  remember();
  if (!redraw) return;
  const focused = document.activeElement;
  const number = panes.findIndex(({ element }) => element.contains(focused));
  const group = focused?.closest("[role=radiogroup]")?.getAttribute("aria-label");
  for (const pane of panes) show(pane);
  if (number < 0) return;
  const place = group ? `[aria-label="${group}"] [aria-checked="true"]` : ".toggle input";
  panes[number].element.querySelector(place)?.focus();
}

function tools(pane) {
  return ["svg", "png"].map((ending) =>
    make("button", {
      type: "button",
      class: "tool",
      "aria-label": `Save as ${ending.toUpperCase()}`,
      text: ending.toUpperCase(),
      click: () =>
        savePicture(pane.view.figure, `attention_${pane.model.name}`, ending).catch((error) =>
          say(error.message, "error"),
        ),
    }),
  );
}

function show(pane) {
  const others = () => panes.filter((other) => other !== pane);
  const given = {
    inputs: pane.inputs,
    state,
    change,
    looked: (word) => others().forEach(({ view }) => view?.follow(word)),
    width: pane.element.clientWidth,
  };
  pane.view = fillPane({ ...pane, pane: pane.element, given, tools: tools(pane) });
}

/** Shows an error, and removes outdated answers. */
function fail(message, kind = "error") {
  clear();
  say(message, kind);
}

function clear() {
  panes = [];
  at("panes").replaceChildren();
}

function unknownTask({ name, task }) {
  const shown = visible(task.slice(0, 40));
  return `${name}: this page cannot show the task "${shown}", because the card declares no axes; it knows ${tasks.join(", ")}.`;
}

/** Asks the chosen models, and shows their answers. */
async function answer() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (!known(find(state.model))) {
    fail(unknownTask(find(state.model)));
    return;
  }
  if (lacks()) return;
  const names = [state.model, state.beside].filter(Boolean);
  if (panes.some(({ model }) => !names.includes(model.name))) clear();
  try {
    say("Asking the model.", "busy");
    await load(names, signal);
    if (lacks() || differs()) return;
    const inputs = { ...state.inputs };
    const begun = performance.now();
    const answers = await Promise.all(
      names.map(async (name) => ask(find(name), await encoded(find(name), inputs), signal)),
    );
    showAnswers(names, answers, inputs);
    requestAnimationFrame(() => {
      if (!signal.aborted)
        say(`Answered and drawn in ${Math.round(performance.now() - begun)} ms.`, "done");
    });
  } catch (error) {
    if (signal.aborted) return;
    for (const name of names) find(name).state = "waiting"; // the server may be another one by now
    fail(error.message);
  }
}

/** Reports the first empty field, if any. */
function lacks() {
  const fields = fieldsOf(find(state.model));
  const blank = ({ name }) => !state.inputs[name]?.trim();
  const nothing = fields.every(blank);
  const needed = ({ optional, counts }) => !optional && !counts;
  const empty = fields.find((field) => blank(field) && (nothing || needed(field)));
  if (empty) fail(missing(empty), Object.keys(state.inputs).length ? "error" : "");
  return !!empty;
}

/** Reports a model beside the other one that reads what that one does not. */
function differs() {
  const other = find(state.beside);
  const given = new Set(fieldsOf(find(state.model)).map(({ name }) => name));
  const more = other ? fieldsOf(other).filter(({ name }) => !given.has(name)) : [];
  const shown = more.map(({ title, label }) => visible((title ?? label).slice(0, 40))).join(", ");
  if (more.length) fail(`${other.name} reads ${shown}, which ${state.model} does not.`);
  return !!more.length;
}

/** Loads the chosen models, then updates the form to their inputs. */
async function load(names, signal) {
  const loading = names.filter((name) => find(name).state !== "ready");
  if (loading.length)
    say(`Loading ${loading.join(" and ")}. This takes a few seconds, once.`, "busy");
  const model = find(state.model);
  const before = JSON.stringify(fieldsOf(model));
  for (const name of loading) Object.assign(find(name), await ready(name, signal));
  keepInputs(model);
  remember();
  if (JSON.stringify(fieldsOf(model)) !== before) fillFields();
}

/** Keeps only the inputs that a model reads; takes an example's if none remain. */
function keepInputs(model) {
  const wanted = new Set(fieldsOf(model).map(({ name }) => name));
  const given = Object.entries(state.inputs).filter(([name]) => wanted.has(name));
  state.inputs = given.length ? Object.fromEntries(given) : beginning(model);
}

function showAnswers(names, answers, inputs) {
  panes = names.map((name, number) => ({
    element: make("section", { class: "pane", "aria-label": name }),
    model: find(name),
    outputs: answers[number],
    inputs,
  }));
  at("panes").className = panes.length > 1 ? "two" : "";
  at("panes").replaceChildren(...panes.map(({ element }) => element));
  for (const pane of panes) show(pane);
}

/** Reads the form, with what was typed since it was last sent. */
function typed() {
  const boxes = [...at("fields").querySelectorAll("[name]")];
  return Object.fromEntries(boxes.map(({ name, value }) => [name, value]));
}

/** Starts over with another model or text. */
function start(changed) {
  const task = find(state.model).task;
  const next = { ...state, ...changed, map: "", step: "", kept: "" };
  const taken = find(next.model).task;
  if (taken !== task) {
    next.beside = "";
    next.inputs = beginning(find(next.model));
  }
  if (next.beside === next.model) next.beside = "";
  state = next;
  remember(true);
  fillPickers();
  fillFields();
  answer();
}

/** Applies an address, correcting invalid parts. */
function restore() {
  state = read(location.hash);
  if (!find(state.model)) state.model = (models.find(known) ?? models[0]).name;
  const { task } = find(state.model);
  if (find(state.beside)?.task !== task || state.beside === state.model) state.beside = "";
  const model = find(state.model);
  const names = fieldsOf(model).map(({ name }) => name);
  if (model.inputs) keepInputs(model);
  else if (!names.some((name) => Object.hasOwn(state.inputs, name))) {
    // A model's inputs are known once it is loaded; until then, drop none.
    state.inputs = { ...state.inputs, ...beginning(model) };
  }
  remember();
  fillPickers();
  fillFields();
  answer();
}

function listen() {
  at("question").addEventListener("submit", (event) => {
    event.preventDefault();
    start({ inputs: typed() });
  });
  at("fields").addEventListener("keydown", (event) => {
    const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!sends || event.target.type === "file") return; // there it opens the list of files
    event.preventDefault();
    at("question").requestSubmit();
  });
  for (const list of ["model", "beside"])
    at(list).addEventListener("change", (event) =>
      start({ inputs: { ...state.inputs, ...typed() }, [list]: event.target.value }),
    );
  addEventListener("hashchange", restore);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => panes.forEach(show)); // thumbnails are no style sheet's
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's bars come and go
    width = innerWidth;
    for (const pane of panes) show(pane);
  });
}

try {
  const told = await catalogue();
  models = told.models;
  examples = new Map(Object.entries(told.examples));
  if (!models.length) throw new Error("The server has no model to look at.");
  listen();
  restore();
} catch (error) {
  say(error.message, "error");
}
