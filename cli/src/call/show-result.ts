/** Formats the result of a call as text: text content as it is, and one descriptive line for each other content item. Pure. */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { toSafeJson } from '../output/json.ts';
import { visible } from '../output/table.ts';

export interface ShownResult {
  /** The text content. */
  text: string;
  /** One line for each content item that is not text. */
  notes: string[];
}

/** @param isForEyes escape control characters, which could move the cursor of a terminal */
export function showResult(result: JsonObject, isForEyes: boolean): ShownResult {
  const content: unknown[] = Array.isArray(result['content']) ? result['content'] : [];
  const texts: string[] = [];
  const notes: string[] = [];
  for (const item of content.filter(isObject)) {
    const text = textOf(item);
    if (text === undefined) notes.push(visible(toNote(item)));
    else texts.push(isForEyes ? visible(text) : text);
  }
  const structured = result['structuredContent'];
  if (texts.length === 0 && structured !== undefined) {
    const json = JSON.stringify(structured, null, 2);
    texts.push(isForEyes ? toSafeJson(json) : json);
  }
  return { text: texts.map(text => (text.endsWith('\n') ? text : `${text}\n`)).join(''), notes };
}

function textOf({ type, text, resource }: JsonObject): string | undefined {
  if (type === 'text' && typeof text === 'string') return text;
  const embedded = type === 'resource' && isObject(resource) ? resource['text'] : undefined;
  return typeof embedded === 'string' ? embedded : undefined;
}

function toNote(item: JsonObject): string {
  const { type, data, mimeType, uri, resource } = item;
  const held = isObject(resource) ? resource : {};
  const encoded = data ?? held['blob'];
  const size = typeof encoded === 'string' ? `, ${Math.floor((encoded.length * 3) / 4)} bytes` : '';
  const what = [type, mimeType ?? held['mimeType'], uri ?? held['uri']].filter(
    part => typeof part === 'string',
  );
  return `[${what.join(' ')}${size}; --json has it]`;
}
