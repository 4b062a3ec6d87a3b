/** The demo of the host document: a gateway with a fake model, three servers over HTTP+SSE, and more where a test wants them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFixture, type FixtureName, type Upstream } from '../../fixtures/start-fixture.ts';
import { openModelDoor } from './model-on-two-ways.ts';
import { QUIET, startGateway, type Gateway } from './gateway.ts';

export const MODEL_KEY = 'model-key-of-the-demo';
export const DEMO = ['documents', 'tickets', 'policies'] as const;

export interface AskDemo {
  gateway: Gateway;
  model: Upstream;
  /** By their names at the gateway. */
  servers: Record<string, Upstream>;
  /** Folder of the traces. */
  traces: string;
  allow(entry: object): Promise<void>;
  stop(): Promise<void>;
}

/** @param more servers beside the three, from `demo-NAME.ts` */
export async function startAskDemo(
  more: readonly string[] = [],
  env: Record<string, string> = {},
  registration: Record<string, object> = {},
): Promise<AskDemo> {
  const traces = await mkdtemp(join(tmpdir(), 'portico-e2e-traces-'));
  const model = await startFixture('model-openai', { key: MODEL_KEY });
  const door = await openModelDoor(model);
  const gateway = await startGateway({
    env: {
      ...QUIET,
      PORTICO_MODEL_URL: `${door.origin}/v1`,
      PORTICO_MODEL: 'fake',
      PORTICO_MODEL_KEY: MODEL_KEY,
      PORTICO_MODEL_CALLS_PER_DAY: '100000',
      PORTICO_TRACE_DIR: traces,
      ...env,
    },
  });
  const servers: Record<string, Upstream> = {};
  for (const name of [...DEMO, ...more]) {
    const upstream = await startFixture(`demo-${name}` as FixtureName);
    servers[name] = upstream;
    const how = { transport_type: 'SSE', tool_approval: 'trust', ...registration[name] };
    await gateway.register(name, `${upstream.origin}/sse`, how);
  }
  return {
    gateway,
    model,
    servers,
    traces,
    async allow(entry) {
      const answer = await gateway.api('POST', '/api/v1/ask/allowlist', entry);
      if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    },
    async stop() {
      await gateway.stop();
      await door.stop();
      await Promise.all([model, ...Object.values(servers)].map(upstream => upstream.stop()));
      await rm(traces, { recursive: true, force: true });
    },
  };
}
