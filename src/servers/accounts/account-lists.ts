/**
 * What an account's lists lack of its server's shared catalog (bounded), and when the lists are read again. Items that only the account's
 * lists have are ignored: nobody approved them. Pure.
 */
import type { HeldAccount, OwnList, OwnLists } from '../../shared/identity/account.ts';
import { KINDS, type Catalog, type Kind } from '../catalog/catalog.ts';
import { isOffered } from '../registry/status.ts';
import type { Server } from '../registry/server-schema.ts';

/** Maximum JSON length in characters: this is loaded with every read of a token of the account's owner. */
export const MAX_OWN_CHARS = 8_192;
/** Age at which the lists are read again when their owner lists, in milliseconds. */
const FRESH_MS = 900_000;

/** A server with a catalog, as a principal reaches it through a working account. */
export interface OwnServer extends Server {
  account: HeldAccount;
  catalogHash: string;
  verdict: NonNullable<Server['verdict']>;
}

/** Whether the account's lists should be read now: never read for this catalog and credential, or read too long ago. */
export function areListsDue(server: Server, now: number): server is OwnServer {
  const { account, needsAccount, catalogHash, verdict, status } = server;
  if (!account || needsAccount || catalogHash === null || !verdict) return false;
  if (!isOffered(status)) return false;
  return account.listsOf !== catalogHash || now - (account.listsAt ?? 0) >= FRESH_MS;
}

/**
 * @param shared the whole catalog @param plain the part of it that a client like the reading one is offered
 * @param own keys that the server listed to the account, by kind; a kind that could not be read keeps its former entry
 * @returns null if nothing is lacking; a list that is too long to store is left out, so that it hides nothing
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
    const length = JSON.stringify({ [kind]: list }).length;
    if (chars + length > MAX_OWN_CHARS) continue;
    chars += length;
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
  // Sorted, so that a server that lists in another order yields the same value.
  return length(has) < length(lacks) ? { has: has.toSorted() } : { lacks: lacks.toSorted() };
}
