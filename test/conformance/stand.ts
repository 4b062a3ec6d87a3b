/**
 * What the suite runs against: the gateway with its own data folder, the fixtures as its upstreams, and a relay in front of each. The
 * gateway is set up through its REST API, as any user sets it up.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi } from '../../local/api.ts';
import { startHost } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';
import { loadSecrets } from '../../local/secrets.ts';
import { startFixture } from './children.ts';
import { namingOf } from './naming.ts';
import { startRelay } from './relay.ts';
import type { Relay } from './relay.ts';

const CONNECT_TIMEOUT_MS = 15_000;
/**
 * Short, so that a call which nobody answers does not delay the run. This and the next constant are the only settings that differ from the
 * defaults.
 */
const CALL_TIMEOUT_MS = 8_000;
/** The address that the suite uses for a client's metadata document; it does not fetch it. Source: its scenario auth/basic-cimd. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** How each upstream is started: a fixture and its arguments. */
const FIXTURES = {
  legacy: ['conformance-legacy'],
  sse: ['conformance-legacy'],
  modern: ['conformance-modern', '--era', 'modern'],
  both: ['conformance-modern'],
  'both-pushed': ['conformance-modern', '--asks', 'requests'],
  default: ['conformance-modern', '--era', 'default'],
} satisfies Record<string, [fixture: string, ...args: string[]]>;

/**
 * An upstream of the gateway. `legacy`: sessions on SDK 1; `sse`: the same over HTTP+SSE; `modern`: 2026-07-28 only, on SDK 2; `both`: both
 * eras with sessions; `both-pushed`: the same, where some tools can send server requests in the legacy era only; `default`: both eras as
 * SDK 2's handler serves them by default.
 */
export type UpstreamName = keyof typeof FIXTURES;
export const UPSTREAMS = Object.keys(FIXTURES) as UpstreamName[];

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
    PORTICO_CLIENT_DOCUMENT_URL: CLIENT_DOCUMENT,
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
  const [fixture, ...args] = FIXTURES[name];
  const port = await startFixture(fixture, args);
  return `http://127.0.0.1:${port}/${name === 'sse' ? 'sse' : 'mcp'}`;
}

/** Relays to the upstream's own endpoint, and to the endpoint of all servers with a token that sees only this server. */
export interface Doors {
  own: Relay;
  all: Relay;
}

/** Starts a fixture, registers it and puts relays in front of it. Throws if the gateway cannot connect to it. */
export async function addUpstream(gateway: Gateway, upstream: UpstreamName): Promise<Doors> {
  const { origin, adminToken } = gateway;
  const api = createApi(origin, adminToken);
  // A name that does not occur in the suite, so that it can be recognised.
  const name = `suite-${upstream.replaceAll(/[^a-z]+/gu, '-')}`;
  const record = await api.createServer({
    name,
    transport_type: upstream === 'sse' ? 'SSE' : 'HTTP',
    connection_config: { url: await startUpstream(upstream) },
  });
  const { status, last_error: error } = await api.waitForServer(
    record.id,
    ['CONNECTED'],
    CONNECT_TIMEOUT_MS,
  );
  if (status !== 'CONNECTED') throw new Error(`${name} is ${status}: ${error ?? ''}`);
  // A token that sees this server only.
  const narrow = await createToken(gateway, { name, servers: [name] });
  return {
    own: await startRelay(`${origin}/mcp/servers/${name}`, adminToken),
    all: await startRelay(`${origin}/mcp`, narrow, namingOf(name)),
  };
}

/** Creates a token of a member. @param body as `POST /api/v1/tokens` takes it */
export async function createToken(
  { origin, adminToken }: Gateway,
  body: { name: string; servers?: string[] },
): Promise<string> {
  const response = await fetch(`${origin}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`No token for ${body.name}: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}
