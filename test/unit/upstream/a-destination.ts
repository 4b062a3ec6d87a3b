/** A server on the network, for tests that answer in its place. */
import type { Negotiated } from '../../../src/upstream/discovery/negotiate.ts';

export const endpoint = {
  serverId: 's',
  name: 's',
  url: 'https://s.example.com/mcp',
  headers: {},
  hidden: [],
  credentialKey: 'k',
  fetch: (url: string, init: RequestInit) => fetch(url, init),
};

/** What was negotiated with a legacy server that announces changes of its tools, in a session. */
export const inSession = (sessionId: string) =>
  ({
    verdict: { transport: 'http' },
    protocol: { era: 'legacy', protocolVersion: '2025-11-25', sessionId },
    capabilities: { tools: { listChanged: true } },
  }) as unknown as Negotiated;
