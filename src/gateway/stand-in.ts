/**
 * The tool `connect` stands in for the tools of a server on which callers have accounts of their own. Nobody can list those tools before an
 * account is connected, and a caller that has nothing to call never learns where to connect one. Everyone who may use the server at all
 * sees it, whichever of its tools they may use, since those are not known yet; it is no tool of the server, so rules on tools do not apply
 * to it. It disappears when the catalog or the caller's account is there. A call of it is answered like any call without an account. Pure.
 */
import { toServerFailure, withConnectUrl, type LinkCaller } from './server-failure.ts';
import { parseCatalog, type Catalog, type CatalogItem } from '../servers/catalog/catalog.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';

/** Its name, as if it were the server's. */
export const STAND_IN = 'connect';

const made = new WeakMap<Server, Catalog>();
const items = new WeakSet<CatalogItem>();

/** Whether it is the only thing of a server that the caller is listed. */
export const listsStandIn = ({ needsAccount, catalogHash, status }: Server): boolean =>
  needsAccount === true && catalogHash === null && isOffered(status);

/** Returns the hash of a server's catalog, or what stands in for it. */
export function listedHash(server: Server): string {
  if (listsStandIn(server)) return STAND_IN;
  return isOffered(server.status) ? (server.catalogHash ?? '') : '';
}

/** Returns the catalog that replaces one that was never read; undefined if the server needs none. */
export const standInCatalog = (server: Server): Catalog | undefined =>
  listsStandIn(server) ? catalogWithIt(server) : undefined;

/**
 * Returns the tool for a call: a caller that still has it in a list may call it after the account or the catalog is there.
 * @param seen what the caller sees of the catalog
 * @param seesAll whether that is all of it
 */
export function standInTool(
  server: Server,
  name: string,
  seen: Catalog,
  seesAll: boolean,
): CatalogItem | undefined {
  const { accounts, needsAccount, catalogHash, status } = server;
  const isOfAccounts = accounts === 'per_principal' || needsAccount === true;
  if (name !== STAND_IN || !isOfAccounts || !isOffered(status)) return undefined;
  // A server of which the caller sees nothing does not exist for it.
  const isSeen = catalogHash === null || seesAll || seen.tools.items.length > 0;
  return isSeen ? catalogWithIt(server).tools.byKey.get(STAND_IN) : undefined;
}

export const isStandIn = (item: CatalogItem | undefined): boolean =>
  item !== undefined && items.has(item);

/** Answers a call of it. @throws ServerFailure `account_required` if there is no account */
export function callStandIn(server: Server, caller: LinkCaller): RawResponse {
  const { name, catalogHash } = server;
  if (server.needsAccount) {
    const required = new PorticoError('account_required');
    throw toServerFailure(server, withConnectUrl(server, required, caller));
  }
  const when = catalogHash === null ? 'Its tools will be listed soon' : 'Its tools are there';
  const text = `Your account at ${name} is connected. ${when}: list the tools again.`;
  const result = JSON.stringify({ content: [{ type: 'text', text }] });
  return { kind: 'response', result, parsed: {} };
}

function catalogWithIt(server: Server): Catalog {
  const known = made.get(server);
  if (known) return known;
  const { name } = server;
  const tool = {
    name: STAND_IN,
    title: `Connect ${name}`,
    description:
      `${name} has tools that need an account of the user's own there, and none is connected yet. Call this to get a link, ` +
      'show it to the user, and list the tools again when the user has connected the account.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
  const text = JSON.stringify({ tools: [tool], capabilities: { tools: { listChanged: true } } });
  const catalog = parseCatalog(STAND_IN, text);
  for (const item of catalog.tools.items) items.add(item);
  made.set(server, catalog);
  return catalog;
}

/** Returns how well it fits a query, from 0 to 1: by the words of its server, since the tools are not known. */
export function standInScore({ name, description }: Server, query: string): number {
  const own = wordsOf(`${name} ${description} connect account`);
  const wanted = [...wordsOf(query)];
  const found = wanted.filter(word => own.has(word));
  return wanted.length === 0 ? 0 : found.length / wanted.length / 2;
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));
