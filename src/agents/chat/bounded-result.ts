/**
 * What a conversation keeps of a tool's result: all of it where it is small, else the beginning of its texts with a note on what is
 * missing. A model can be given more than that (`models/formats/bound-result.ts`), above all images, but a chat is stored whole. The tool's
 * text stays data: only the note is added to it. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Largest result that is kept whole, as JSON in UTF-16 units; of a larger one, at most this much text is kept. */
export const MAX_KEPT_CHARS = 250_000;
/** Longest beginning of a result that watchers are shown, in UTF-16 units. */
const MAX_PREVIEW_CHARS = 500;

/** @returns the result itself where it is small */
export function toBoundedResult(result: JsonObject): JsonObject {
  const { length } = JSON.stringify(result);
  if (length <= MAX_KEPT_CHARS) return result;
  const kept = textOf(result)
    .slice(0, MAX_KEPT_CHARS)
    .replace(/[\uD800-\uDBFF]$/, '');
  const note = `The result was too large and is cut: ${length} characters, of which this is the beginning of its text.`;
  return {
    content: [{ type: 'text', text: note }, ...(kept === '' ? [] : [{ type: 'text', text: kept }])],
    ...(result['isError'] === true ? { isError: true } : {}),
  };
}

/** Returns the beginning of a result's text, for people. */
export function toPreview(result: JsonObject): string {
  return textOf(result)
    .slice(0, MAX_PREVIEW_CHARS)
    .replace(/[\uD800-\uDBFF]$/, '');
}

function textOf(result: JsonObject): string {
  const blocks = Array.isArray(result['content']) ? result['content'] : [];
  const texts = blocks.flatMap(block => (isObject(block) ? [textOfBlock(block)] : []));
  return texts.filter(text => text !== '').join('\n');
}

function textOfBlock({ text, resource }: JsonObject): string {
  if (typeof text === 'string') return text;
  return isObject(resource) && typeof resource['text'] === 'string' ? resource['text'] : '';
}
