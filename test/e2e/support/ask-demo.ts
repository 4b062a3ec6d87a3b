/** The demo of the host document: a gateway with a fake model, three servers over HTTP+SSE, and more if a test needs them. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveScript } from '../../fixtures/model-control.ts';
import {
  startFixture,
  until,
  type FixtureName,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
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

/** The response to an ask. */
export interface Asked {
  verdict: { decision: string; stage: string; reason: string; message: string };
  plan?: { server: string; tool: string; args: object };
  result?: { structuredContent?: unknown };
  typed?: { status: string };
  summary?: { claims: { text: string; evidence: string }[]; dropped: number };
  trace_id: string;
  usage: { calls: number; questions: number; tokens: number };
}

/** The model's text that plans a call. */
export const plan = (server: string, tool: string, args: object) => ({
  text: JSON.stringify({ type: 'call_tool', server, tool, args }),
});

/** Asks, with a model that says these things. @throws Error if the status is not 200 */
export async function ask(
  { model, gateway }: AskDemo,
  request: string,
  turns: { text: string }[],
  more: object = {},
): Promise<Asked> {
  await giveScript(model, { turns });
  const { status, json, text } = await gateway.api('POST', '/api/v1/ask', { request, ...more });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as unknown as Asked;
}

/** Waits for the spans of an ask, in the order of their start. */
export const spansOf = ({ traces }: AskDemo, { trace_id: id }: Asked) =>
  until('the trace is written', 30_000, async () => {
    const file = (await readdir(traces)).find(name => name.includes(id));
    if (file === undefined) return undefined;
    const lines = (await readFile(join(traces, file), 'utf8')).trimEnd().split('\n');
    return lines.map(line => JSON.parse(line) as { name: string; decision?: string });
  });

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
