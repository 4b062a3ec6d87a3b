/**
 * Answers the server requests of a running call with what a person at the terminal enters: forms field by field, and addresses to open. A
 * person who leaves (Ctrl-D, Ctrl-C) has decided nothing, and the server gets `cancel`. Text of the server is shown with its invisible
 * characters made visible.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { Failure } from '../failure.ts';
import { visible } from '../output/table.ts';
import type { Asked } from '../terminal.ts';
import { toFields, type FormField } from './form-fields.ts';

/** Asks the person, and shows them lines of text. */
export interface Prompter extends Asked {
  tell(line: string): void;
}

const CANCEL = { action: 'cancel' };
const DECLINE = { action: 'decline' };

/**
 * Returns the `inputResponses` to the `inputRequests` of a result.
 * @param tool that sent the requests
 * @throws Failure for a request that no person can answer here
 */
export async function answerQuestions(
  tool: string,
  requests: unknown,
  prompter: Prompter,
): Promise<JsonObject> {
  const responses: JsonObject = {};
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    const { method, params } = isObject(request) ? request : {};
    if (method !== 'elicitation/create' || !isObject(params)) {
      throw new Failure(
        `${tool} asks for ${visible(String(method))}, which the command line does not support; use an MCP client`,
      );
    }
    prompter.tell(`${tool} asks: ${visible(textOf(params['message']))}`);
    responses[key] =
      params['mode'] === 'url'
        ? await openAddress(params, prompter)
        : await fillIn(params, prompter);
  }
  return responses;
}

async function openAddress({ url }: JsonObject, prompter: Prompter): Promise<JsonObject> {
  const address = textOf(url);
  const host = URL.canParse(address) ? new URL(address).host : '';
  prompter.tell(`Open this address, at ${visible(host)}, in a browser: ${visible(address)}`);
  return decide(await prompter.confirm('Continue? [y/N] '), {});
}

async function fillIn({ requestedSchema }: JsonObject, prompter: Prompter): Promise<JsonObject> {
  const fields = toFields(requestedSchema);
  if (fields.length === 0) return decide(await prompter.confirm('Agree? [y/N] '), { content: {} });
  const content: JsonObject = {};
  for (const field of fields) {
    const said = await readField(field, prompter);
    if (said === undefined) return CANCEL;
    if (said.value !== undefined) content[field.key] = said.value;
  }
  prompter.tell(visible(JSON.stringify(content)));
  return decide(await prompter.confirm('Send this? [y/N] '), { content });
}

function decide(said: string | undefined, accepted: JsonObject): JsonObject {
  if (said === undefined) return CANCEL;
  return /^y(es)?$/i.test(said.trim()) ? { action: 'accept', ...accepted } : DECLINE;
}

/** Asks until the input is valid. @returns undefined where the person leaves */
async function readField(
  { label, description, hint, choices, isRequired, fallback, read }: FormField,
  prompter: Prompter,
): Promise<{ value: unknown } | undefined> {
  if (description !== '') prompter.tell(`  ${visible(description)}`);
  choices.forEach((choice, i) => prompter.tell(`  ${i + 1}. ${visible(choice)}`));
  const otherwise = fallback !== undefined ? `, default ${JSON.stringify(fallback)}` : ', or empty';
  const more = fallback !== undefined || !isRequired ? otherwise : '';
  for (;;) {
    const line = await prompter.ask(`${visible(label)} (${visible(hint + more)}): `);
    if (line === undefined) return undefined;
    const text = line.trim();
    if (text === '' && more !== '') return { value: fallback };
    try {
      return { value: read(text) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      prompter.tell(`  It must be ${error.message}.`);
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
