/** Shared set-up of the skills tests: a gateway, servers whose tools are written in files, and their classification. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  startFixture,
  until,
  type FixtureName,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from './gateway.ts';

export interface SkilledTool {
  tool: string;
  skills: { id: string; confidence: number }[];
  primary_skill_id: string | null;
  is_classified: boolean;
  reason: string | null;
  source: string;
}

export type Described = [name: string, description: string];

export interface SkilledGateway {
  gateway: Gateway;
  /** Registers a server with these tools; returns its id. */
  add(name: string, tools: readonly Described[], more?: Record<string, unknown>): Promise<string>;
  /** Changes the tools of the server. */
  change(name: string, tools: readonly Described[]): Promise<void>;
  /** Returns the classification of a server's tools, by their names. */
  skillsOf(id: string): Promise<Map<string, SkilledTool>>;
  /** Waits until the classification of one tool is as wanted. */
  whenSkilled(
    id: string,
    tool: string,
    isWanted?: (known: SkilledTool) => boolean,
    timeoutMs?: number,
  ): Promise<SkilledTool>;
  stop(): Promise<void>;
}

/** Starts the same with a language model: a fixture that accepts this key. */
export async function startWithModel(
  fixture: FixtureName,
  env: Record<string, string>,
): Promise<{ model: Upstream; skilled: SkilledGateway }> {
  const key = 'model-key-0123456789';
  const model = await startFixture(fixture, { key });
  const skilled = await startSkilled({
    PORTICO_MODEL_URL: `${model.origin}/v1`,
    PORTICO_MODEL_KEY: key,
    PORTICO_MODEL_TIMEOUT_MS: '12000',
    ...env,
  });
  return { model, skilled };
}

const SERVERS = '/api/v1/aggregator/servers';
/** Short intervals, so that everything that follows discoveries and check cycles happens soon. */
const SOON = { PORTICO_DISCOVERY_INTERVAL_MS: '500', PORTICO_HEALTH_INTERVAL_MS: '500' };

export async function startSkilled(env: Record<string, string> = {}): Promise<SkilledGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-e2e-skills-'));
  const gateway = await startGateway({ env: { ...SOON, ...env } });
  const upstreams: Upstream[] = [];
  const fileOf = (name: string) => join(folder, `${name}.json`);
  const change: SkilledGateway['change'] = async (name, tools) => {
    // Renamed into place, because the server may read the file at any time.
    await writeFile(`${fileOf(name)}.new`, JSON.stringify(tools.map(toTool)));
    await rename(`${fileOf(name)}.new`, fileOf(name));
  };
  const skillsOf: SkilledGateway['skillsOf'] = async id => {
    const { status, json } = await gateway.api('GET', `${SERVERS}/${id}/skills`);
    expect(status).toBe(200);
    return new Map((json['tools'] as SkilledTool[]).map(known => [known.tool, known]));
  };
  return {
    gateway,
    change,
    skillsOf,
    async add(name, tools, more = {}) {
      await change(name, tools);
      const upstream = await startFixture('listed-tools', { tools: fileOf(name) });
      upstreams.push(upstream);
      const trusted = { tool_approval: 'trust', ...more };
      return (await gateway.register(name, `${upstream.origin}/mcp`, trusted)).id;
    },
    whenSkilled: (id, tool, isWanted = () => true, timeoutMs = 30_000) =>
      until(`the skills of ${tool}`, timeoutMs, async () => {
        const known = (await skillsOf(id)).get(tool);
        return known && isWanted(known) ? known : undefined;
      }),
    async stop() {
      await gateway.stop();
      await Promise.all(upstreams.map(upstream => upstream.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const toTool = ([name, description]: Described) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
});
