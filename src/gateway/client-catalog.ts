/**
 * What is within reach, for one kind of client: a server that speaks both eras is spoken to in the client's own, and offers what it
 * offers to clients with these capabilities. Decided here, once for a request; below, a server has one era. Pure.
 */
import type { VisibleServers } from './viewer.ts';
import { inEra } from '../servers/registry/in-era.ts';
import type { ClientTraits } from '../servers/catalog/conditions.ts';
import { Lru } from '../shared/util/lru.ts';
import type { Era, JsonObject } from '../shared/protocol.ts';
import { featuresOf } from '../shared/client-capabilities.ts';

/** Kinds of clients for which visible servers are remembered. */
const MAX_CLIENTS = 80;

const made = new WeakMap<VisibleServers, Lru<string, VisibleServers>>();

/** @param capabilities what the client can be asked (`clientCapabilitiesOf`) */
export function visibleToClient(
  visible: VisibleServers,
  era: Era,
  capabilities: JsonObject,
): VisibleServers {
  const client = traitsOf(capabilities);
  const key = `${era} ${client.key}`;
  let known = made.get(visible);
  if (!known) made.set(visible, (known = new Lru(MAX_CLIENTS)));
  const before = known.get(key);
  if (before) return before;
  const own = { ...visible, servers: visible.servers.map(server => inEra(server, era)), client };
  known.set(key, own);
  return own;
}

function traitsOf(capabilities: JsonObject): ClientTraits {
  const features = featuresOf(capabilities);
  return { features: new Set(features), key: features.join() };
}
