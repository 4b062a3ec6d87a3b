/**
 * Reads what a server offers: every page of its tools, resources, templates and prompts, each item
 * as the raw JSON the server wrote. An item that is not valid is left out and counted; the others
 * stay. A list that fails is noted, and the others stay too; only where none can be read the whole
 * fails. Bounds: pages, items and characters.
 */
import type { Verdict } from '../../servers/registry/server-schema.ts';
import {
  type Conditions,
  type Kind,
  KIND_FACTS,
  KINDS,
  type ListTtls,
  MAX_LIST_TTL_MS,
} from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { parseParamHeaders } from '../protocol/param-headers.ts';
import { isDeeper, rawElements, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { MAX_NAME_CHARS, MAX_URI_CHARS, QUALIFIER_CHARS } from '../../shared/util/name-limits.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { Channel } from '../session/channel.ts';
import type { Deadline } from '../../http/deadline.ts';
import { mendItem, type MendedItem } from './mended-item.ts';
import { withoutSecrets } from '../protocol/message.ts';
import { toSaid } from '../protocol/error-text.ts';

/** A list that could not be read, and why in one line. */
export interface FailedList {
  kind: Kind;
  error: PorticoError;
}

export interface Discovered {
  /** Raw JSON of each item by kind, in the server's order, keys unique within a kind. */
  items: Record<Kind, string[]>;
  ttlMs: ListTtls;
  /** One line where something was left out. */
  warning: string | null;
  /** The lists that could not be read; there are no items of them. */
  failed: readonly FailedList[];
}

export const MAX_PAGES = 500;
/** Most items of one kind. */
export const MAX_ITEMS = 5_000;
/** Validators of clients, and our own, go down an item level by level. */
const MAX_ITEM_DEPTH = 200;
export const MAX_CATALOG_CHARS = 20_000_000;

/** What of a server its lists are read with. */
export interface Listing {
  channel: Channel;
  deadline: Deadline;
  /** What a list's failure must not repeat. */
  hidden: readonly string[];
}

/**
 * @param capabilities what the server says it has; tools are asked for in any case
 * @throws PorticoError with an `upstream_*` code where no list can be read; SessionForgotten
 */
export async function discover(listing: Listing, capabilities: JsonObject): Promise<Discovered> {
  const items: Discovered['items'] = {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  const ttlMs: ListTtls = {};
  const notes: Notes = { leftOut: [], mended: [] };
  const failed: FailedList[] = [];
  const read = async (kind: Kind) => {
    const listed = await listAll(listing, kind, notes).catch((error: unknown) => {
      if (!(error instanceof PorticoError)) throw error;
      return error;
    });
    if (listed instanceof PorticoError) return void failed.push({ kind, error: listed });
    items[kind] = listed.items;
    if (listed.ttlMs < MAX_LIST_TTL_MS) ttlMs[kind] = listed.ttlMs;
  };
  const isOffered = (kind: Kind) => capabilities[KIND_FACTS[kind].capability] !== undefined;
  const others = KINDS.filter(kind => kind !== 'tools' && isOffered(kind));
  // Tools come before what may hang; of the others none waits for another.
  await read('tools');
  await Promise.all(others.map(read));
  const [first] = failed;
  if (first && failed.length > others.length) throw first.error;
  const isMissed = ({ kind }: FailedList) => kind !== 'tools' || isOffered(kind);
  return {
    items,
    ttlMs,
    warning: toWarning(notes),
    failed: failed.filter(isMissed).map(toNamed),
  };
}

/** What kinds are called in messages. */
const WORDS: Record<Kind, string> = {
  tools: 'tools',
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
};

/** Of several lists each says which one it is. */
const toNamed = ({ kind, error: { code, message } }: FailedList): FailedList => ({
  kind,
  error: new PorticoError(code, `Its ${WORDS[kind]} cannot be listed: ${message}`),
});

/** Items that did not come as they are, each with its name and the reason. */
interface Notes {
  leftOut: string[];
  /** Items that came without a part. */
  mended: string[];
}

/** One line; of each kind the first is named, with the reason. */
function toWarning({ leftOut, mended }: Notes): string | null {
  const lines = [
    leftOut.length > 0 && `${leftOut.length} invalid items were left out (${leftOut[0]})`,
    mended.length > 0 &&
      `${mended.length} items came without a part that clients cannot take (${mended[0]})`,
  ].filter(line => line !== false);
  return lines.length > 0 ? lines.join('; ') : null;
}

async function listAll(listing: Listing, kind: Kind, notes: Notes) {
  const items: string[] = [];
  const keys = new Set<string>();
  let chars = 0;
  let ttlMs = MAX_LIST_TTL_MS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params: RawObject = new Map();
    if (cursor !== undefined) params.set('cursor', JSON.stringify(cursor));
    const { raw, nextCursor, ttlMs: pageTtlMs } = await listPage(listing, kind, params);
    ttlMs = Math.min(ttlMs, pageTtlMs);
    for (const text of raw) {
      const { key, ...read } = readItem(kind, text, keys);
      if ('fault' in read) {
        notes.leftOut.push(`${toName(key)}: ${read.fault}`);
        continue;
      }
      if (read.left !== undefined) {
        notes.mended.push(`${toName(key)}: ${JSON.stringify(read.left)}`);
      }
      keys.add(key);
      items.push(read.text);
      chars += read.text.length;
    }
    if (items.length > MAX_ITEMS || chars > MAX_CATALOG_CHARS) {
      throw new PorticoError('upstream_too_large', `More than ${MAX_ITEMS} ${kind} or too large`);
    }
    if (nextCursor === undefined || nextCursor === cursor) return { items, ttlMs };
    cursor = nextCursor;
  }
  throw new PorticoError('upstream_too_large', `The list has more than ${MAX_PAGES} pages`);
}

async function listPage({ channel, deadline, hidden }: Listing, kind: Kind, params: RawObject) {
  const answered = await channel.request(KIND_FACTS[kind].method, params, deadline);
  const response = withoutSecrets(answered, hidden);
  if ('error' in response) {
    // A server need not know the method of what it does not have.
    if (response.parsed['code'] === -32601)
      return { raw: [], nextCursor: undefined, ttlMs: MAX_LIST_TTL_MS };
    throw new PorticoError('upstream_4xx', `The server refused${toSaid(response.parsed)}`);
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

/** Most characters of an item's name that are told. */
const MAX_NAMED_CHARS = 64;

const toName = (key: string): string => JSON.stringify(key.slice(0, MAX_NAMED_CHARS));

/** The key of an item and its text as clients can take it, or why it is left out: it is none, or would keep a client from the whole list. */
function readItem(
  kind: Kind,
  text: string,
  others: ReadonlySet<string>,
): { key: string } & (MendedItem | { fault: string }) {
  if (isDeeper(text, MAX_ITEM_DEPTH)) {
    return { key: '?', fault: `nested deeper than ${MAX_ITEM_DEPTH} levels` };
  }
  const item: unknown = JSON.parse(text);
  const value = isObject(item) ? item[KIND_FACTS[kind].key] : undefined;
  const key = typeof value === 'string' ? value : '';
  if (others.has(key)) return { key, fault: 'listed twice' };
  // Nobody may ask for a name that is longer.
  const isName = KIND_FACTS[kind].key === 'name';
  const maxChars = (isName ? MAX_NAME_CHARS : MAX_URI_CHARS) - QUALIFIER_CHARS;
  if (key.length > maxChars) return { key, fault: `longer than ${maxChars} characters` };
  const mended = mendItem(kind, text, item);
  if ('fault' in mended) return { key, ...mended };
  if (key === '') return { key, fault: 'invalid' };
  const fault = kind === 'tools' ? headerFault(mended.text) : undefined;
  return fault === undefined ? { key, ...mended } : { key, fault };
}

/** Why a tool is invalid by its `x-mcp-header` annotations, if it is. */
function headerFault(text: string): string | undefined {
  const parsed = parseParamHeaders(rawMembers(text).get('inputSchema') ?? '{}');
  return 'invalid' in parsed ? parsed.invalid : undefined;
}

/** What a look found. */
export interface DiscoveryResult extends Discovered {
  verdict: Verdict;
  capabilities: JsonObject;
  instructions: string | undefined;
  /** Which items are not for every client. */
  conditions?: Conditions | undefined;
  /** What a modern server says it has in the legacy era, where it keeps sessions there. */
  legacyCapabilities?: JsonObject | undefined;
}
