// Shows a document and a query with a blank: attention, and the words that counted.

import { chanceBar, choice, decimals, make, scaleOf } from "./elements.js";
import { TokenList } from "./tokens.js";
import { apart, asText, pieces, strongest } from "./words.js";

const BLANK = "XXXXX";
const SHOWN = 8; // candidates

function candidateBars(outputs, chosen, choose) {
  const options = outputs.candidates
    .map((word, rank) => ({ text: asText(word), chance: outputs.probabilities[rank] }))
    .filter(({ text, chance }, rank) => rank < SHOWN && text && chance > 0)
    .map(({ text, chance }) => ({
      value: text,
      title: `${text}, probability ${decimals(chance)}`,
      content: chanceBar(text, chance),
    }));
  return choice({ label: "Candidates", options, chosen, choose, kind: "steps" });
}

/**
 * Shows where a cloze reader looked.
 *
 * @param outputs of a cloze model, for one example.
 * @param state the user's choices: step (a candidate), kept.
 * @param change called with the choices that change.
 */
export function clozeView({ outputs, state, change }) {
  const given = pieces(outputs.document_tokens.slice(0, outputs.document_length));
  const asked = pieces(outputs.query_tokens.slice(0, outputs.query_length)).map((word) =>
    word.text === BLANK ? { ...word, text: "____", said: "the blank", special: true } : word,
  );
  const s = outputs.attention_document.slice(0, given.length);
  const beta = outputs.attention_query?.slice(0, asked.length) ?? null;
  const [down, up] = [outputs.attention_query_to_document, outputs.attention_document_to_query];
  let candidate = state.step || asText(outputs.answer);
  const side = /^(query|document)\.(\d+)$/.exec(state.kept ?? "");
  let kept = side ? { [side[1]]: Number(side[2]) } : null;
  if (kept && !((kept.query ?? 0) < asked.length && (kept.document ?? 0) < given.length))
    kept = null;

  const readout = make("p", { class: "readout" });
  const list = (name, label, words) =>
    new TokenList({
      label,
      words,
      kind: "prose",
      look: (position) => show(position === null ? kept : { [name]: position }),
      keep: (position) => {
        kept = position === null ? null : { [name]: position };
        change({ kept: position === null ? "" : `${name}.${position}` }, { redraw: false });
        show(kept);
      },
    });
  const query = list("query", "Query", asked);
  const document = list("document", "Document", given);
  const legend = make("div", { class: "legends" });
  const chooser = make("div", { class: "stepper" });
  given.forEach((_, position) => document.describe(position, `weight ${decimals(s[position])}`));
  asked.forEach((_, position) =>
    query.describe(position, beta ? `counts ${decimals(beta[position])}` : ""),
  );

  function mark() {
    document.items.forEach((item, position) =>
      item.classList.toggle("answer", given[position].text === candidate),
    );
    chooser.replaceChildren(
      make("p", { class: "caption", text: "Candidates and their probabilities" }),
      candidateBars(outputs, candidate, (value) => {
        candidate = value;
        change({ step: value }, { redraw: false });
        mark();
        chooser.querySelector('[aria-checked="true"]')?.focus();
      }),
    );
  }

  function show(at) {
    const ofDocument = at?.query !== undefined && down ? down[at.query].slice(0, given.length) : s;
    const ofQuery =
      at?.document !== undefined && up ? up[at.document].slice(0, asked.length) : beta;
    document.heat(ofDocument);
    query.heat(ofQuery);
    document.activate(at?.document ?? null);
    query.activate(at?.query ?? null);
    document.pin(kept?.document ?? null);
    query.pin(kept?.query ?? null);
    legend.replaceChildren(
      scaleOf(Math.max(...ofDocument), "document"),
      ...(ofQuery ? [scaleOf(Math.max(...ofQuery), "query")] : []),
    );
    if (at?.query !== undefined)
      readout.textContent = `${apart(asked[at.query].text)} → ${strongest(ofDocument, given) || "–"}`;
    else if (at?.document !== undefined) {
      const links = ofQuery ? `, ${strongest(ofQuery, asked)}` : "";
      readout.textContent = `${apart(given[at.document].text)}: ${decimals(s[at.document])}${links}`;
    } else readout.textContent = "Point at a word of either text to see what it attends to.";
  }
  mark();
  show(kept);
  const figure = make("div", { class: "figure" }, query.element, document.element, legend);
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}
