/**
 * What a cached result is kept under: a hash of all that may have made it what it is. Pure but for the hash. Two calls have the same key
 * only where the server gets the same from both and, unless the rule is public, both are one principal's.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { isOfAccounts } from '../../servers/registry/own-account.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CacheRule } from '../../servers/cache-rules/cache-rule.ts';
import { CACHE_META } from './cache-control.ts';

export interface CachedCall {
  rule: CacheRule;
  server: Server;
  /** The server's own name of the tool. */
  tool: string;
  /** Raw params as the caller sent them. */
  params: RawObject;
  /** What the caller can be asked. */
  capabilities: JsonObject;
  principalId: string;
}

export interface CacheKey {
  key: string;
  /** Whose it is; a sealed result opens for no other. */
  scope: string;
}

/** What of `_meta` says how a call is made and told of, not what is called. */
const OF_THE_WAY = new Set([CACHE_META, 'progressToken', 'traceparent', 'tracestate', 'baggage']);
const OF_THE_PROTOCOL = 'io.modelcontextprotocol/';

/** Whether the calls of a server can differ by who makes them: one that keeps a session for each client may know them apart. */
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
    // An edit, another connection, another credential, another definition: none finds what was kept before.
    [server.id, server.revision, server.generation, server.catalogHash, server.verdict?.era],
    [
      server.account?.id,
      credential.revision,
      ...credential.secrets.map(({ name, revision }) => [name, revision]),
    ],
    tool,
    canonicalJson(params.get('arguments') ?? '{}'),
    canonicalJson(fromRawMembers(restOf(params))),
    canonicalJson(JSON.stringify(capabilities)),
  ];
  return { key: await sha256Hex(JSON.stringify(facts)), scope };
}

/** What else the server gets. */
function restOf(params: RawObject): RawObject {
  const rest: RawObject = new Map(params);
  rest.delete('name');
  rest.delete('arguments');
  const raw = rest.get('_meta');
  rest.delete('_meta');
  if (raw === undefined || !raw.startsWith('{')) return rest;
  const meta = [...rawMembers(raw)].filter(
    ([name]) => !OF_THE_WAY.has(name) && !name.startsWith(OF_THE_PROTOCOL),
  );
  return meta.length === 0 ? rest : rest.set('_meta', fromRawMembers(new Map(meta)));
}
