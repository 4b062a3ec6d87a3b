/**
 * Picks the era that the gateway uses with a server that speaks both. Pure. A server that keeps no sessions in its legacy era (the default
 * of the 2.x SDK) cannot send server requests there, so its modern era serves every client.
 */
import type { Era } from '../../shared/protocol.ts';
import type { Server } from './server-schema.ts';

const spoken = new WeakMap<Server, Server>();

/** The record of a server for clients of one era. */
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
