/**
 * What is within reach, for one kind of client: a server that speaks both eras is spoken to in the client's own, and offers what it
 * offers to clients with these capabilities. Decided here, once for a request; below, a server has one era. Pure.
 *
 * A server whose legacy era keeps no sessions (the default of the 2.x SDK) can ask nobody in it, so its modern era serves all.
 */
import type { ClientTraits } from '../catalog/conditions.ts';
import { Lru } from '../lib/lru.ts';
import type { Era, JsonObject } from '../protocol.ts';
import type { Server } from '../registry/server-schema.ts';
import { featuresOf } from '../session/client-features.ts';
import type { Reach } from './gateway.ts';

/** Kinds of clients for which one reach is remembered. */
const MAX_CLIENTS = 80;

const spoken = new WeakMap<Server, Server>();
const made = new WeakMap<Reach, Lru<string, Reach>>();

/** A server as a client of an era is served by it. */
export function inEra(server: Server, era: Era): Server {
  const { verdict } = server;
  if (era === 'modern' || !verdict?.legacy?.sessionful) return server;
  const known = spoken.get(server);
  if (known) return known;
  const { legacy, transport, protocolVersion: modernVersion } = verdict;
  const inLegacy = { era: 'legacy' as const, transport, ...legacy, modernVersion };
  const legacyServer: Server = { ...server, verdict: inLegacy };
  spoken.set(server, legacyServer);
  return legacyServer;
}

/** @param capabilities what the client can be asked (`askableOf`) */
export function reachOfClient(reach: Reach, era: Era, capabilities: JsonObject): Reach {
  const client = traitsOf(capabilities);
  const key = `${era} ${client.key}`;
  let known = made.get(reach);
  if (!known) made.set(reach, (known = new Lru(MAX_CLIENTS)));
  const before = known.get(key);
  if (before) return before;
  const own = { ...reach, servers: reach.servers.map(server => inEra(server, era)), client };
  known.set(key, own);
  return own;
}

function traitsOf(capabilities: JsonObject): ClientTraits {
  const features = featuresOf(capabilities);
  return { features: new Set(features), key: features.join() };
}
