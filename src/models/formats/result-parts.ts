/**
 * Splits a result of `tools/call` into parts that every dialect has: text, images and documents. Content that a dialect cannot show becomes
 * text that describes it. Results are untrusted: content that does not have MCP's form is shown as its JSON. Pure.
 *
 * Source: MCP specification 2026-07-28 and 2025-11-25, server/tools, "Tool result".
 */
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { tryJson } from '../../shared/json/json-spans.ts';

export type ResultPart =
  | { kind: 'text'; text: string }
  /** Base64 data that a dialect may show, and a text to use where it cannot. */
  | { kind: 'image' | 'document'; mimeType: string; data: string; text: string };

/** Types that every dialect shows as an image. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const PDF = 'application/pdf';
const MAX_LABEL_CHARS = 300;
const NOTHING = 'The tool returned nothing.';

/** Tells whether a result reports a failure. */
export const isFailed = (result: JsonObject): boolean => result['isError'] === true;

/** Returns the parts of a result in their order; at least one. */
export function toParts(result: JsonObject): ResultPart[] {
  const content = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const parts = content.map(toPart);
  const structured = toStructuredText(result, parts);
  if (structured !== undefined) parts.push({ kind: 'text', text: structured });
  return parts.length === 0 ? [{ kind: 'text', text: NOTHING }] : parts;
}

/** Returns `structuredContent` as text, unless the result's text already says the same, as it should. */
function toStructuredText(
  { structuredContent: value }: JsonObject,
  parts: readonly ResultPart[],
): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  const isSaid = parts.some(part => part.kind === 'text' && saysSame(part.text, text));
  return isSaid ? undefined : text;
}

function saysSame(said: string, text: string): boolean {
  if (!/^\s*[[{"\d\-tfn]/.test(said)) return false;
  return JSON.stringify(tryJson(said)) === text;
}

function toPart(block: unknown): ResultPart {
  if (!isObject(block)) return asJson(block);
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return asText(text);
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return toMedia(type, mimeType, data);
  }
  if (type === 'resource' && isObject(resource)) return toResource(resource);
  if (type === 'resource_link') return { kind: 'text', text: toLink(block) };
  return asJson(block);
}

/** APIs refuse a request with half of a surrogate pair. */
const asText = (text: string): ResultPart => ({ kind: 'text', text: text.toWellFormed() });

const asJson = (value: unknown): ResultPart => ({ kind: 'text', text: JSON.stringify(value) });

/** Returns an image or a document where the dialects support the type, else a text that describes it. */
function toMedia(what: string, mimeType: unknown, data: string, of = ''): ResultPart {
  const type = typeof mimeType === 'string' ? mimeType.toLowerCase() : '';
  const text = `[${what}${of}${type === '' ? '' : ` of type ${line(type)}`}, ${data.length} characters of base64, not shown]`;
  if (IMAGES.has(type)) return { kind: 'image', mimeType: type, data, text };
  if (type === PDF) return { kind: 'document', mimeType: type, data, text };
  return { kind: 'text', text };
}

function toResource(resource: JsonObject): ResultPart {
  const { uri, mimeType, text, blob } = resource;
  const of = typeof uri === 'string' ? ` ${line(uri)}` : '';
  if (typeof text === 'string') {
    const type = typeof mimeType === 'string' ? ` (${line(mimeType)})` : '';
    return asText(`[resource${of}${type}]\n${text}`);
  }
  return typeof blob === 'string' ? toMedia('resource', mimeType, blob, of) : asJson(resource);
}

function toLink({ uri, name, description, mimeType }: JsonObject): string {
  const said = [name, uri, mimeType, description].filter(each => typeof each === 'string');
  return `[link to a resource: ${said.map(line).join(', ')}]`;
}

const line = (text: string) => toOneLine(text, MAX_LABEL_CHARS);
