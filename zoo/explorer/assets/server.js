// Asks the server for models, their state, and their answers.

import { signatureOf } from "./fields.js";

async function json(address, options) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer: has it been stopped?");
  }
  let value;
  try {
    value = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(`The server answered with what is no JSON (status ${answer.status}).`);
  }
  if (!answer.ok)
    throw new Error(value?.error ?? `The server answered with status ${answer.status}.`);
  return value;
}

/** Fetches all models and examples. */
export function catalogue() {
  return json("/models");
}

/** Waits until a model is loaded; returns its description. */
export async function ready(name, signal) {
  for (;;) {
    const model = await json(`/models/${encodeURIComponent(name)}`, { signal });
    if (model.state === "failed") throw new Error(`${name} cannot be loaded: ${model.error}`);
    if (model.state === "ready") return model;
    await new Promise((resolve) => setTimeout(resolve, 200));
    signal.throwIfAborted();
  }
}

/** Asks a model about one example, as its signature takes it; returns the outputs by name. */
export async function ask(model, instance, signal) {
  const signature = signatureOf(model);
  const body = JSON.stringify({ signature_name: signature, instances: [instance] });
  const headers = { "Content-Type": "application/json" };
  try {
    const address = `/v1/models/${encodeURIComponent(model.name)}:predict`;
    const answer = await json(address, { method: "POST", headers, body, signal });
    const [row] = answer.predictions;
    // The name of the only output is left out.
    return model.outputs?.length === 1 ? { [model.outputs[0]]: row } : row;
  } catch (error) {
    // The user has not chosen the signature: leave its name out of the message.
    const named = `${signature}: `;
    if (error.message.startsWith(named)) error.message = error.message.slice(named.length);
    throw error;
  }
}
