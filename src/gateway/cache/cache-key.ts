/**
 * Builds the key of a cached result: a hash of everything that may have influenced the result. Pure but for the hash. Two calls share a key
 * only if the server receives the same from both and, unless the rule is public, one principal makes both.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { CLIENT_CAPABILITIES } from '../../shared/client-capabilities.ts';
import { META, type JsonObject } from '../../shared/protocol.ts';
import { isOfAccounts } from '../../servers/registry/own-account.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CacheRule } from '../../servers/cache-rules/cache-rule.ts';
import { CACHE_META } from './cache-control.ts';

export interface CachedCall {
  rule: CacheRule;
  server: Server;
  /** The server's own name for the tool. */
  tool: string;
  /** Raw params as the caller sent them. */
  params: RawObject;
  /** The caller's client capabilities: the server requests that it can answer. */
  capabilities: JsonObject;
  principalId: string;
}

export interface CacheKey {
  key: string;
  /** Whose result it is; a sealed result cannot be opened for another scope. */
  scope: string;
}

/** Members of `_meta` that say how a call is made and traced, not what is called; the key leaves them out. */
const OF_THE_WAY = new Set([CACHE_META, 'progressToken', 'traceparent', 'tracestate', 'baggage']);
const OF_THE_PROTOCOL = 'io.modelcontextprotocol/';

/** Whether a server answers all callers alike. A server that keeps a session for each client may tell them apart. */
const isOneForAll = (server: Server): boolean =>
  server.verdict !== null && !server.verdict.sessionful && !isOfAccounts(server);

export async function toCacheKey(call: CachedCall): Promise<CacheKey> {
  const { rule, server, tool, params, capabilities, principalId } = call;
  const isShared = rule.isPublic && isOneForAll(server);
  const scope = isShared ? 'public' : `principal ${principalId}`;
  const { credential } = server;
  const facts = [
    scope,
    [rule.id, rule.revision],
    // After an edit, a new connection, a new credential or a new definition, earlier results are no longer found.
    [server.id, server.revision, server.generation, server.catalogHash, server.verdict?.era],
    [
      server.account?.id,
      credential.revision,
      ...credential.secrets.map(({ name, revision }) => [name, revision]),
    ],
    tool,
    canonicalJson(params.get('arguments') ?? '{}'),
    canonicalJson(fromRawMembers(restOf(call))),
    canonicalJson(JSON.stringify(capabilities)),
  ];
  return { key: await sha256Hex(JSON.stringify(facts)), scope };
}

/** Returns the rest of the params that the server receives. */
function restOf({ params, server, capabilities }: CachedCall): RawObject {
  const rest: RawObject = new Map(params);
  rest.delete('name');
  rest.delete('arguments');
  const raw = rest.get('_meta');
  rest.delete('_meta');
  if (raw === undefined || !raw.startsWith('{')) return rest;
  const members = rawMembers(raw);
  const meta = new Map(
    [...members].filter(([name]) => !OF_THE_WAY.has(name) && !name.startsWith(OF_THE_PROTOCOL)),
  );
  const others =
    server.verdict?.era === 'modern'
      ? otherCapabilities(members.get(META.clientCapabilities), capabilities)
      : '{}';
  if (others !== '{}') meta.set(META.clientCapabilities, others);
  return meta.size === 0 ? rest : rest.set('_meta', fromRawMembers(meta));
}

/** Returns the client capabilities that only a modern server receives: extensions, and what a client wrote beside the known parts. */
function otherCapabilities(raw: string | undefined, known: JsonObject): string {
  const others = rawMembers(raw?.startsWith('{') ? raw : '{}');
  for (const name of CLIENT_CAPABILITIES) {
    if (others.get(name) === JSON.stringify(known[name])) others.delete(name);
  }
  return fromRawMembers(others);
}
