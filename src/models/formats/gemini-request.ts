/**
 * Converts a turn request to the body of `generateContent`. A tool's result is a `functionResponse` with `output` or `error`, and with
 * images and documents as its parts.
 *
 * Sources: Gemini API docs, "Function calling" (multimodal function responses; ids of calls are returned where the model gave them) and
 * "Thought signatures" (ai.google.dev/gemini-api/docs/thought-signatures): parts are returned unchanged, and the first call of a turn by
 * another model carries a signature that says so; the types of the official client (googleapis/js-genai, src/types.ts).
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { TurnRequest } from './dialect.ts';
import { GEMINI_SCHEMA } from './gemini-schema.ts';
import type { CanonicalCall, CanonicalMessage, CanonicalResult } from './canonical-form.ts';
import { fromRawTurn } from './raw-turn.ts';
import { argumentsOf, isOwnId } from './read-call.ts';
import { isFailed, toParts, type ResultPart } from './result-parts.ts';
import { bringDown } from './schema-down.ts';
import { tryJson } from '../../shared/json/json-spans.ts';

/** The signature for a call that the model itself did not make. */
const FOREIGN = 'skip_thought_signature_validator';
/** Media types that a `functionResponse` may contain besides its JSON. */
const SHOWN: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
]);

export function toGeminiRequest(request: TurnRequest): JsonObject {
  const { system, messages, tools, answer, maxTokens } = request;
  const json = answer && {
    responseMimeType: 'application/json',
    responseJsonSchema: bringDown(answer.schema, GEMINI_SCHEMA, () => {}),
  };
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.flatMap(toContents),
    generationConfig: { maxOutputTokens: maxTokens, ...json },
    ...(tools && tools.tools.length > 0 ? { tools: tools.tools } : {}),
  };
}

function toContents(message: CanonicalMessage): JsonObject[] {
  if (message.role === 'user') return [{ role: 'user', parts: [{ text: message.text }] }];
  if (message.role === 'tools') return toGeminiResults(message.results);
  const raw = fromRawTurn('gemini', message.raw);
  const parts = Array.isArray(raw) && raw.length > 0 ? (raw as unknown[]) : toOwnParts(message);
  return [{ role: 'model', parts }];
}

function toOwnParts({
  text,
  calls,
}: {
  text: string;
  calls: readonly CanonicalCall[];
}): JsonObject[] {
  const made = calls.map((call, index) => ({
    functionCall: { ...idOf(call.id), name: call.name, args: argumentsOf(call) },
    ...(index === 0 ? { thoughtSignature: FOREIGN } : {}),
  }));
  return text === '' && made.length > 0 ? made : [{ text }, ...made];
}

const idOf = (id: string) => (isOwnId(id) ? { id } : {});

/** Builds one user content with a `functionResponse` for each result. */
export function toGeminiResults(results: readonly CanonicalResult[]): JsonObject[] {
  if (results.length === 0) return [];
  const parts = results.map(({ id, name, result }) => {
    const all = toParts(result);
    const shown = all.filter(isShown);
    const said = all.filter(part => !isShown(part)).map(({ text }) => text);
    const response = isFailed(result)
      ? { error: said.join('\n') || 'The tool failed.' }
      : { output: toOutput(result, said) };
    const inline = shown.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } }));
    const more = inline.length > 0 ? { parts: inline } : {};
    return { functionResponse: { ...idOf(id), name, response, ...more } };
  });
  return [{ role: 'user', parts }];
}

const isShown = (part: ResultPart): part is Exclude<ResultPart, { kind: 'text' }> =>
  part.kind !== 'text' && SHOWN.has(part.mimeType);

/** Returns structured content as JSON where the text says nothing else, to avoid JSON inside a string. */
function toOutput({ structuredContent }: JsonObject, said: readonly string[]): unknown {
  const [only] = said;
  if (!isObject(structuredContent) || said.length !== 1 || only === undefined) {
    return said.join('\n');
  }
  const isSame = JSON.stringify(tryJson(only)) === JSON.stringify(structuredContent);
  return isSame ? structuredContent : only;
}
