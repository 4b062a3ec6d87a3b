/**
 * Reads what a server offers: every page of its tools, resources, templates and prompts, each item
 * as the raw JSON the server wrote. An item that is not valid is left out and counted; the others
 * stay. Bounds: pages, items and characters.
 */
import {
  KIND_FACTS,
  KINDS,
  MAX_LIST_TTL_MS,
  type Kind,
  type ListTtls,
} from '../catalog/catalog.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { parseParamHeaders } from '../gateway/param-headers.ts';
import { rawElements, rawMembers, type RawObject } from '../lib/json-spans.ts';
import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
  type JsonObject,
} from '../protocol.ts';
import type { Channel } from './channel.ts';
import type { Deadline } from './deadline.ts';

export interface Discovered {
  /** Raw JSON of each item by kind, in the server's order, keys unique within a kind. */
  items: Record<Kind, string[]>;
  ttlMs: ListTtls;
  /** One line where something was left out. */
  warning: string | null;
}

export const MAX_PAGES = 500;
/** Most items of one kind. */
export const MAX_ITEMS = 5_000;
export const MAX_CATALOG_CHARS = 20_000_000;

const SCHEMAS = {
  tools: ToolSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
  prompts: PromptSchema,
};

/**
 * @param capabilities what the server says it has; tools are asked for in any case
 * @throws PorticoError with an `upstream_*` code; SessionForgotten
 */
export async function discover(
  channel: Channel,
  capabilities: JsonObject,
  deadline: Deadline,
): Promise<Discovered> {
  const items: Record<Kind, string[]> = {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  const ttlMs: ListTtls = {};
  const faults: string[] = [];
  let leftOut = 0;
  for (const kind of KINDS) {
    const isOffered = kind === 'tools' || capabilities[KIND_FACTS[kind].capability] !== undefined;
    if (!isOffered) continue;
    const listed = await listAll(channel, kind, deadline, faults);
    items[kind] = listed.items;
    if (listed.ttlMs < MAX_LIST_TTL_MS) ttlMs[kind] = listed.ttlMs;
    leftOut += listed.leftOut;
  }
  return { items, ttlMs, warning: toWarning(leftOut, faults) };
}

/** One line; of the tools with an invalid annotation the first is named, with the reason. */
function toWarning(leftOut: number, [fault]: readonly string[]): string | null {
  if (leftOut === 0) return null;
  return `${leftOut} invalid items were left out${fault === undefined ? '' : ` (${fault})`}`;
}

async function listAll(channel: Channel, kind: Kind, deadline: Deadline, faults: string[]) {
  const items: string[] = [];
  const keys = new Set<string>();
  let leftOut = 0;
  let chars = 0;
  let ttlMs = MAX_LIST_TTL_MS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params: RawObject = new Map();
    if (cursor !== undefined) params.set('cursor', JSON.stringify(cursor));
    const { raw, nextCursor, ttlMs: pageTtlMs } = await listPage(channel, kind, params, deadline);
    ttlMs = Math.min(ttlMs, pageTtlMs);
    for (const text of raw) {
      const key = validKey(kind, text);
      const fault = kind === 'tools' && key !== undefined ? headerFault(key, text) : undefined;
      if (fault !== undefined) faults.push(fault);
      if (key === undefined || keys.has(key) || fault !== undefined) {
        leftOut += 1;
        continue;
      }
      keys.add(key);
      items.push(text);
      chars += text.length;
    }
    if (items.length > MAX_ITEMS || chars > MAX_CATALOG_CHARS) {
      throw new PorticoError('upstream_too_large', `More than ${MAX_ITEMS} ${kind} or too large`);
    }
    if (nextCursor === undefined || nextCursor === cursor) return { items, leftOut, ttlMs };
    cursor = nextCursor;
  }
  throw new PorticoError('upstream_too_large', `The list has more than ${MAX_PAGES} pages`);
}

async function listPage(channel: Channel, kind: Kind, params: RawObject, deadline: Deadline) {
  const response = await channel.request(KIND_FACTS[kind].method, params, deadline);
  if ('error' in response) {
    // A server need not know the method of what it does not have.
    if (response.parsed['code'] === -32601)
      return { raw: [], nextCursor: undefined, ttlMs: MAX_LIST_TTL_MS };
    throw new PorticoError('upstream_4xx', `The server refused to list its ${kind}`);
  }
  const { nextCursor, ttlMs } = response.parsed;
  if (!Array.isArray(response.parsed[kind])) {
    throw new PorticoError('upstream_bad_message', `The list has no ${kind}`);
  }
  return {
    raw: rawElements(rawMembers(response.result).get(kind) ?? '[]'),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
    ttlMs: toTtlMs(ttlMs),
  };
}

/**
 * Whole seconds, since a server that counts down must not make a new catalog at every look. Without
 * a number, as in the legacy era, the server leaves it to us.
 */
function toTtlMs(value: unknown): number {
  if (typeof value !== 'number') return MAX_LIST_TTL_MS;
  return Math.max(0, Math.floor(Math.min(value, MAX_LIST_TTL_MS) / 1_000) * 1_000);
}

/** Why a tool is invalid by its `x-mcp-header` annotations, if it is. */
function headerFault(name: string, text: string): string | undefined {
  const parsed = parseParamHeaders(rawMembers(text).get('inputSchema') ?? '{}');
  return 'invalid' in parsed
    ? `${JSON.stringify(name.slice(0, 64))}: ${parsed.invalid}`
    : undefined;
}

/** The item's key where the item is one, by the SDK's schema. */
function validKey(kind: Kind, text: string): string | undefined {
  const item: unknown = JSON.parse(text);
  if (!SCHEMAS[kind].safeParse(item).success) return undefined;
  const key = (item as JsonObject)[KIND_FACTS[kind].key];
  return typeof key === 'string' && key !== '' ? key : undefined;
}
