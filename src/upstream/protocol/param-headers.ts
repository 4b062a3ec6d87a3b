/**
 * Mirrored headers. `Mcp-Param-*` headers repeat parameters of a tool if its schema asks for that (`x-mcp-header`). This file reads the
 * annotations of a schema, writes the headers of a call, and checks those of a client. It also has the value form of all mirrored headers:
 * plain ASCII, or the Base64 sentinel for everything else. Pure.
 *
 * Invariants: a tool without annotations costs one search of its text, once; values are read from the raw arguments, so no number loses
 * digits. If the body has no value, a header that claims one is a mismatch: a router that trusted it relied on something that the server
 * does not see.
 * Source: MCP 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters and Value Encoding.
 */
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { rawMembers } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** One mirrored parameter. */
export interface ParamHeader {
  /** Name of the header, in lower case. */
  header: string;
  /** Keys that lead from the arguments to the value. */
  path: readonly string[];
  type: 'string' | 'integer' | 'boolean';
}

type ParamHeaders = { valid: readonly ParamHeader[] } | { invalid: string };

const KEY = 'x-mcp-header';
const PREFIX = 'mcp-param-';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** An annotation deeper than this is invalid. */
const MAX_DEPTH = 64;

/** Keywords that hold a schema or a list of schemas; an annotation in one of those cannot be reached. */
const APPLICATORS =
  'items prefixItems additionalItems contains unevaluatedItems additionalProperties ' +
  'unevaluatedProperties propertyNames contentSchema allOf anyOf oneOf not if then else';
/** Keywords that hold schemas by name; the same holds for them. */
const NAMED_APPLICATORS = 'patternProperties dependentSchemas dependencies $defs definitions';

interface Place {
  schema: unknown;
  /** Undefined if the place is not reached by `properties` alone. */
  path: readonly string[] | undefined;
}

/** Returns the annotations of an input schema, or why its tool is invalid. @param text valid JSON */
export function parseParamHeaders(text: string): ParamHeaders {
  // A key may be written with escapes.
  if (!text.includes(KEY) && !text.includes('\\u')) return { valid: [] };
  const valid: ParamHeader[] = [];
  const names = new Set<string>();
  const places: Place[] = [{ schema: JSON.parse(text), path: [] }];
  for (let place = places.pop(); place; place = places.pop()) {
    const { schema, path } = place;
    if (!isObject(schema)) continue;
    if (Object.hasOwn(schema, KEY)) {
      const found = parseAnnotation(schema, path);
      if ('invalid' in found) return found;
      if (names.has(found.header)) return { invalid: `${KEY} names one header twice` };
      names.add(found.header);
      valid.push(found);
    }
    pushPlaces(places, schema, path);
  }
  return { valid: valid.toReversed() };
}

function parseAnnotation(
  schema: JsonObject,
  path: Place['path'],
): ParamHeader | { invalid: string } {
  const { [KEY]: name, type } = schema;
  if (path === undefined || path.length === 0) {
    return { invalid: `${KEY} is on something that \`properties\` alone do not lead to` };
  }
  if (typeof name !== 'string' || !TOKEN.test(name)) {
    return { invalid: `${KEY} is not a header name` };
  }
  if (!TYPES.includes(type)) {
    return { invalid: `${KEY} is on something other than a string, integer or boolean` };
  }
  return { header: PREFIX + name.toLowerCase(), path, type: type as ParamHeader['type'] };
}

function pushPlaces(places: Place[], schema: JsonObject, path: Place['path']): void {
  const { properties } = schema;
  if (isObject(properties)) {
    const isReached = path !== undefined && path.length < MAX_DEPTH;
    for (const [key, child] of Object.entries(properties)) {
      places.push({ schema: child, path: isReached ? [...path, key] : undefined });
    }
  }
  for (const keyword of APPLICATORS.split(' ')) {
    const child = schema[keyword];
    const children: unknown[] = Array.isArray(child) ? child : [child];
    for (const each of children) places.push({ schema: each, path: undefined });
  }
  for (const keyword of NAMED_APPLICATORS.split(' ')) {
    const child = schema[keyword];
    if (!isObject(child)) continue;
    for (const each of Object.values(child)) places.push({ schema: each, path: undefined });
  }
}

const known = new WeakMap<CatalogItem, readonly ParamHeader[]>();

/** Returns the mirrored parameters of a catalog's tool; none if its schema is invalid. */
export function paramHeadersOf(tool: CatalogItem): readonly ParamHeader[] {
  const held = known.get(tool);
  if (held) return held;
  const parsed = parseParamHeaders(tool.raw.get('inputSchema') ?? '{}');
  const found = 'valid' in parsed ? parsed.valid : [];
  known.set(tool, found);
  return found;
}

/**
 * Returns the headers that go with a call.
 * @param args raw JSON of the call's arguments, if it has any
 */
export function toParamHeaders(
  declared: readonly ParamHeader[],
  args: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

/**
 * Checks what a client mirrored against the call's arguments.
 * @param read returns the value of a header by its name, null if the request has none
 * @throws PorticoError `header_mismatch`
 */
export function checkParamHeaders(
  declared: readonly ParamHeader[],
  args: string | undefined,
  read: (header: string) => string | null,
): void {
  for (const { header, path, type } of declared) {
    const raw = valueAt(args, path);
    const value = read(header);
    if (value === null) {
      if (textOf(raw) === undefined) continue;
      throw mismatch(`the ${header} header is missing`);
    }
    const claimed = decodeHeaderValue(value);
    if (claimed === undefined) throw mismatch(`the ${header} header is not valid`);
    const isEqual =
      type === 'integer' ? equalNumbers(claimed, raw) : claimed === textOf(raw)?.toWellFormed();
    if (!isEqual)
      throw mismatch(`${header} does not match arguments.${path.join('.')} of the body`);
  }
}

function mismatch(detail: string): PorticoError {
  return new PorticoError('header_mismatch', `Header mismatch: ${detail}`);
}

/** Returns the raw JSON at a path, or undefined if nothing is there. */
function valueAt(args: string | undefined, path: readonly string[]): string | undefined {
  let raw = args;
  for (const key of path) {
    if (!raw?.startsWith('{')) return undefined;
    raw = rawMembers(raw).get(key);
  }
  return raw;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/**
 * Returns a raw primitive as a header writes it, a number with all its digits; undefined for null, for a missing value and for all other
 * JSON.
 */
function textOf(raw: string | undefined): string | undefined {
  if (raw === undefined || raw === 'null' || raw.startsWith('{') || raw.startsWith('[')) {
    return undefined;
  }
  if (raw.startsWith('"')) return JSON.parse(raw) as string;
  const number = Number(raw);
  return Number.isSafeInteger(number) ? String(number) : raw;
}

/** `42.0` equals 42; digits beyond what a number holds are compared as text. */
function equalNumbers(claimed: string, raw: string | undefined): boolean {
  const text = textOf(raw);
  if (text === undefined || claimed === text) return text !== undefined;
  if (raw?.startsWith('"') || !DECIMAL.test(claimed)) return false;
  const number = Number(claimed);
  return Number.isSafeInteger(number) && number === Number(text);
}

const SENTINEL_PREFIX = '=?base64?';
const SENTINEL_SUFFIX = '?=';
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Characters of a plain value: white space around a value belongs to the header, not to the value. */
const VISIBLE = /^[\t\x20-\x7e]*$/;
/** RFC 4648, section 4, with its padding; `atob` alone would accept a value without it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isSentinel = (value: string) =>
  value.length >= SENTINEL_PREFIX.length + SENTINEL_SUFFIX.length &&
  value.startsWith(SENTINEL_PREFIX) &&
  value.endsWith(SENTINEL_SUFFIX);

/** Returns a text as a header value. The empty text is encoded too: some peers drop empty headers. */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !isSentinel(text)) return text;
  const binary = Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte));
  return `${SENTINEL_PREFIX}${btoa(binary.join(''))}${SENTINEL_SUFFIX}`;
}

/**
 * Returns the text of a header value; undefined if it holds other characters than a header may, or if a sentinel holds no UTF-8 in Base64.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isSentinel(value)) return VISIBLE.test(value) ? value : undefined;
  const base64 = value.slice(SENTINEL_PREFIX.length, -SENTINEL_SUFFIX.length);
  if (!BASE64.test(base64)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
