/**
 * What the lists of an account lack of the shared catalog of its server, bounded, and when they are to be read again. What they have
 * beyond it is nothing: nobody approved it. Pure.
 */
import type { HeldAccount, OwnList, OwnLists } from '../../shared/identity/account.ts';
import { KINDS, type Catalog, type Kind } from '../catalog/catalog.ts';
import { isOffered } from '../registry/status.ts';
import type { Server } from '../registry/server-schema.ts';

/** Most characters of JSON: they come with every read of a token of the account's owner. */
export const MAX_OWN_CHARS = 8_192;
/** They are read again after this time, in milliseconds, when their owner lists. */
const FRESH_MS = 900_000;

/** A server whose catalog is there, as somebody reaches it by an account that works. */
export interface OwnServer extends Server {
  account: HeldAccount;
  catalogHash: string;
  verdict: NonNullable<Server['verdict']>;
}

/** Whether there are lists to read, and they were not read for this catalog and credential, or long ago. */
export function areListsDue(server: Server, now: number): server is OwnServer {
  const { account, needsAccount, catalogHash, verdict, status } = server;
  if (!account || needsAccount || catalogHash === null || !verdict) return false;
  if (!isOffered(status)) return false;
  return account.listsOf !== catalogHash || now - (account.listsAt ?? 0) >= FRESH_MS;
}

/**
 * @param shared the whole catalog @param plain what of it a client like the one that read is offered
 * @param own keys that the account was listed, by kind; of a kind that could not be read the former stays
 * @returns null where nothing is lacking; a list that is too long to be kept is left out, so that it hides nothing
 */
export function toOwnLists(
  shared: Catalog,
  plain: Catalog,
  own: Partial<Record<Kind, ReadonlySet<string>>>,
  former: OwnLists | null,
): OwnLists | null {
  const lists: Record<string, OwnList> = {};
  let chars = 0;
  for (const kind of KINDS) {
    const keys = own[kind];
    const list = keys ? toOwnList(shared, plain, kind, keys) : former?.[kind];
    if (!list) continue;
    chars += JSON.stringify({ [kind]: list }).length;
    if (chars > MAX_OWN_CHARS) break;
    lists[kind] = list;
  }
  return Object.keys(lists).length > 0 ? lists : null;
}

function toOwnList(
  shared: Catalog,
  plain: Catalog,
  kind: Kind,
  own: ReadonlySet<string>,
): OwnList | undefined {
  const lacks = plain[kind].items.map(({ key }) => key).filter(key => !own.has(key));
  if (lacks.length === 0) return undefined;
  const lacking = new Set(lacks);
  const has = shared[kind].items.map(({ key }) => key).filter(key => !lacking.has(key));
  const length = (keys: readonly string[]) => JSON.stringify(keys).length;
  // In an order of its own: a server that lists in another one has the same.
  return length(has) < length(lacks) ? { has: has.toSorted() } : { lacks: lacks.toSorted() };
}
