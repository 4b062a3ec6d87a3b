/**
 * The era in which a server that speaks both is spoken to. Pure. A server whose legacy era keeps no sessions (the default of the 2.x
 * SDK) can ask nobody in it, so its modern era serves all.
 */
import type { Era } from '../../shared/protocol.ts';
import type { Server } from './server-schema.ts';

const spoken = new WeakMap<Server, Server>();

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
