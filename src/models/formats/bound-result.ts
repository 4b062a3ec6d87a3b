/**
 * Cuts a result to what a model can be given: limits on text, image data and number of parts. A note replaces whatever is cut or left out.
 * A result within the bounds is returned unchanged. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Longest text of a result including its structured content, in UTF-16 units: some 30,000 tokens. */
export const MAX_RESULT_CHARS = 100_000;
/** Most base64 data per result, in characters. */
export const MAX_RESULT_DATA_CHARS = 4_000_000;
/** Most parts per result. */
export const MAX_RESULT_PARTS = 100;

const note = (text: string): JsonObject => ({ type: 'text', text: `[${text}]` });

/** What remains of each limit. */
interface Left {
  chars: number;
  dataChars: number;
  isCut: boolean;
}

export function boundResult(result: JsonObject): JsonObject {
  const given = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const left: Left = { chars: MAX_RESULT_CHARS, dataChars: MAX_RESULT_DATA_CHARS, isCut: false };
  const content = given.slice(0, MAX_RESULT_PARTS).map(part => boundPart(part, left));
  if (given.length > MAX_RESULT_PARTS) {
    left.isCut = true;
    content.push(note(`${given.length - MAX_RESULT_PARTS} more parts, left out`));
  }
  const { structuredContent: structured, ...rest } = result;
  const chars = structured === undefined ? 0 : JSON.stringify(structured).length;
  // If text was cut that repeats the structured content, keeping the structured content would undo the cut.
  const isOut = chars > MAX_RESULT_CHARS || (left.isCut && chars > left.chars);
  if (!left.isCut && !isOut) return result;
  if (isOut) content.push(note(`structured content of ${chars} characters, left out`));
  return { ...rest, content, ...(isOut || chars === 0 ? {} : { structuredContent: structured }) };
}

function boundPart(part: unknown, left: Left): unknown {
  if (!isObject(part)) return boundOther(part, left);
  const { type, text, data, resource } = part;
  if (type === 'text' && typeof text === 'string') {
    return { ...part, text: cut(text, left) };
  }
  if (typeof data === 'string') return boundData(part, data, left);
  if (type !== 'resource' || !isObject(resource)) return boundOther(part, left);
  const { text: inner, blob } = resource;
  if (typeof inner === 'string') {
    return { ...part, resource: { ...resource, text: cut(inner, left) } };
  }
  return typeof blob === 'string' ? boundData(part, blob, left) : boundOther(part, left);
}

function boundData(part: JsonObject, data: string, left: Left): JsonObject {
  if (data.length <= left.dataChars) {
    left.dataChars -= data.length;
    return part;
  }
  left.isCut = true;
  return note(`${String(part['type'])} of ${data.length} characters of base64, left out`);
}

function boundOther(part: unknown, left: Left): unknown {
  const { length } = JSON.stringify(part);
  if (length > left.chars) {
    left.isCut = true;
    return note(`part of ${length} characters, left out`);
  }
  left.chars -= length;
  return part;
}

function cut(text: string, left: Left): string {
  if (text.length <= left.chars) {
    left.chars -= text.length;
    return text;
  }
  left.isCut = true;
  // Half of a surrogate pair is not a character.
  const head = text.slice(0, left.chars).replace(/[\uD800-\uDBFF]$/, '');
  left.chars = 0;
  return `${head}\n[cut: ${head.length} of ${text.length} characters are shown]`;
}
