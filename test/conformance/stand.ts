/**
 * What the suite is run against: the gateway with a data folder of its own, the fixtures as its upstreams, a relay in
 * front of each. The gateway is set up as any user sets it up, through its REST API.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi } from '../../local/api.ts';
import { startHost } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';
import { loadSecrets } from '../../local/secrets.ts';
import { startFixture } from './children.ts';
import { startRelay } from './relay.ts';
import type { Relay } from './relay.ts';

const CONNECT_TIMEOUT_MS = 15_000;
/** Short, so that a call which nobody answers does not hold up the run. */
const CALL_TIMEOUT_MS = 8_000;

export const UPSTREAMS = ['legacy', 'sse', 'modern'] as const;
/** An upstream of the gateway: sessions on SDK 1, the same over HTTP+SSE, 2026-07-28 only on SDK 2. */
export type UpstreamName = (typeof UPSTREAMS)[number];

export interface Gateway {
  origin: string;
  adminToken: string;
  close(): Promise<void>;
}

export async function startGateway(): Promise<Gateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-conformance-'));
  const { keyRing, adminToken } = await loadSecrets(dataDir, undefined);
  const env = {
    PORTICO_KEYS: keyRing,
    PORTICO_ADMIN_TOKEN: adminToken,
    PORTICO_CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS),
    // The suite changes lists, and wants to see that at once.
    PORTICO_TOOL_APPROVAL: 'trust',
  };
  const host = await startHost({ files: await readSourceFiles(), dataDir, port: 0, env });
  return {
    origin: host.url,
    adminToken,
    close: async () => {
      await host.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startUpstream(name: UpstreamName): Promise<string> {
  if (name === 'modern') {
    const port = await startFixture('conformance-modern', ['--era', 'modern']);
    return `http://127.0.0.1:${port}/mcp`;
  }
  const port = await startFixture('conformance-legacy');
  return `http://127.0.0.1:${port}/${name === 'sse' ? 'sse' : 'mcp'}`;
}

/** Starts a fixture, registers it and puts a relay before its endpoint. Throws when the gateway does not reach it. */
export async function addUpstream(gateway: Gateway, name: UpstreamName): Promise<Relay> {
  const api = createApi(gateway.origin, gateway.adminToken);
  const record = await api.createServer({
    name,
    transport_type: name === 'sse' ? 'SSE' : 'HTTP',
    connection_config: { url: await startUpstream(name) },
  });
  const { status, last_error: error } = await api.waitForServer(
    record.id,
    ['CONNECTED'],
    CONNECT_TIMEOUT_MS,
  );
  if (status !== 'CONNECTED') throw new Error(`${name} is ${status}: ${error ?? ''}`);
  return startRelay(`${gateway.origin}/mcp/servers/${name}`, gateway.adminToken);
}
