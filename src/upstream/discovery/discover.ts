/**
 * Reads what a server offers: every page of its tools, resources, templates and prompts, each item as the raw JSON that the server wrote.
 * An invalid item is left out and counted; the others stay. A list that fails is noted, and the other lists stay; the discovery fails only
 * if no list can be read. Bounds: pages, items and bytes.
 */
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
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

/** A list that could not be read, and the reason in one line. */
export interface FailedList {
  kind: Kind;
  error: PorticoError;
}

export interface Discovered {
  /** Raw JSON of each item by kind, in the server's order, keys unique within a kind. */
  items: Record<Kind, string[]>;
  ttlMs: ListTtls;
  /** One line if something was left out. */
  warning: string | null;
  /** The lists that could not be read; their items are missing. */
  failed: readonly FailedList[];
}

export const MAX_PAGES = 500;
/** Most items of one kind. */
export const MAX_ITEMS = 5_000;
/** Deepest nesting of an item: the validators of clients, and the gateway's own, recurse into it level by level. */
const MAX_ITEM_DEPTH = 200;
/** Most bytes of all lists together: a catalog is one value of KV, which has 25 MiB at most. */
export const MAX_CATALOG_BYTES = 20_000_000;

const encoder = new TextEncoder();

/** What it takes to read a server's lists. */
export interface Listing {
  channel: Channel;
  deadline: Deadline;
  /** Texts that the error of a list must not repeat. */
  hidden: readonly string[];
}

/**
 * @param capabilities those that the server advertises; tools are requested in any case
 * @throws PorticoError with an `upstream_*` code if no list can be read; SessionForgotten
 */
export async function discover(listing: Listing, capabilities: JsonObject): Promise<Discovered> {
  const items: Discovered['items'] = {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  const ttlMs: ListTtls = {};
  const notes: Notes = { leftOut: { count: 0 }, mended: { count: 0 }, bytes: 0 };
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
  // Tools come first, before lists that may hang; the other lists do not wait for each other.
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

/** Names of the kinds in messages. */
const WORDS: Record<Kind, string> = {
  tools: 'tools',
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
};

/** Names the list in its error, since there are several. */
const toNamed = ({ kind, error: { code, message } }: FailedList): FailedList => ({
  kind,
  error: new PorticoError(code, `Its ${WORDS[kind]} cannot be listed: ${message}`),
});

/** How many items of a sort there are, and the first of them with the reason: a hostile server lists any number. */
interface Noted {
  count: number;
  first?: string;
}

interface Notes {
  leftOut: Noted;
  /** Items that were kept without a part. */
  mended: Noted;
  /** Bytes of the lists that were read. */
  bytes: number;
}

function note(noted: Noted, key: string, reason: string): void {
  noted.count += 1;
  noted.first ??= `${toName(key)}: ${reason}`;
}

/** Returns one line, which names the first of each sort and the reason. */
function toWarning({ leftOut, mended }: Notes): string | null {
  const lines = [
    leftOut.count > 0 && `${leftOut.count} invalid items were left out (${leftOut.first})`,
    mended.count > 0 &&
      `${mended.count} items were kept without a part that clients cannot read (${mended.first})`,
  ].filter(line => line !== false);
  return lines.length > 0 ? lines.join('; ') : null;
}

async function listAll(listing: Listing, kind: Kind, notes: Notes) {
  const items: string[] = [];
  const keys = new Set<string>();
  let bytes = 0;
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
        note(notes.leftOut, key, read.fault);
        continue;
      }
      if (read.left !== undefined) note(notes.mended, key, JSON.stringify(read.left));
      keys.add(key);
      items.push(read.text);
      bytes += encoder.encode(read.text).length;
    }
    if (items.length > MAX_ITEMS || notes.bytes + bytes > MAX_CATALOG_BYTES) {
      throw new PorticoError('upstream_too_large', `More than ${MAX_ITEMS} ${kind} or too large`);
    }
    if (nextCursor === undefined || nextCursor === cursor) {
      notes.bytes += bytes;
      return { items, ttlMs };
    }
    cursor = nextCursor;
  }
  throw new PorticoError('upstream_too_large', `The list has more than ${MAX_PAGES} pages`);
}

async function listPage({ channel, deadline, hidden }: Listing, kind: Kind, params: RawObject) {
  const answered = await channel.request(KIND_FACTS[kind].method, params, deadline);
  const response = withoutSecrets(answered, hidden);
  if ('error' in response) {
    // A server need not know the method of a list that it does not have.
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
 * Rounds down to whole seconds, since a server that counts down must not make a new catalog at each discovery. Without a number, as in the
 * legacy era, the server leaves the TTL to the gateway.
 */
function toTtlMs(value: unknown): number {
  if (typeof value !== 'number') return MAX_LIST_TTL_MS;
  return Math.max(0, Math.floor(Math.min(value, MAX_LIST_TTL_MS) / 1_000) * 1_000);
}

/** Most characters of an item's name in a message. */
const MAX_NAMED_CHARS = 64;

const toName = (key: string): string => JSON.stringify(key.slice(0, MAX_NAMED_CHARS));

/**
 * Returns the key of an item and its text in a form that clients can take, or why the item is left out: it is invalid, or a client would
 * refuse the whole list for it.
 */
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
  // A longer name could not be requested.
  const isName = KIND_FACTS[kind].key === 'name';
  const maxChars = (isName ? MAX_NAME_CHARS : MAX_URI_CHARS) - QUALIFIER_CHARS;
  if (key.length > maxChars) return { key, fault: `longer than ${maxChars} characters` };
  const mended = mendItem(kind, text, item);
  if ('fault' in mended) return { key, ...mended };
  if (key === '') return { key, fault: 'invalid' };
  const fault = kind === 'tools' ? headerFault(mended.text) : undefined;
  return fault === undefined ? { key, ...mended } : { key, fault };
}

/** Returns why the `x-mcp-header` annotations of a tool are invalid, if they are. */
function headerFault(text: string): string | undefined {
  const parsed = parseParamHeaders(rawMembers(text).get('inputSchema') ?? '{}');
  return 'invalid' in parsed ? parsed.invalid : undefined;
}

/** What a discovery found. */
export interface DiscoveryResult extends Discovered {
  verdict: ServerProtocol;
  capabilities: JsonObject;
  instructions: string | undefined;
  /** Which items are not for every client. */
  conditions?: Conditions | undefined;
  /** What a modern server advertises in the legacy era, if it keeps sessions there. */
  legacyCapabilities?: JsonObject | undefined;
}
