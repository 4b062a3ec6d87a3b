/** Servers whose tools a test defines, and which of them the gateway holds. */
import { until } from '../../fixtures/start-fixture.ts';
import type { Gateway } from './gateway.ts';
import { startScripted, type ScriptedUpstream } from './scripted-upstream.ts';

const WAIT_MS = 30_000;

export interface Tool {
  name: string;
  description?: string;
  inputSchema: object;
  annotations?: object;
}

export const toTool = (name: string, description: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description,
  inputSchema: { type: 'object' },
  ...more,
});

/** A registered server and its tools. */
export interface Offering {
  id: string;
  upstream: ScriptedUpstream;
  items: Tool[];
}

/** Registers a server with these tools. @param mode which of them are approved: the first ones, or none */
export async function offerTools(
  gateway: Gateway,
  name: string,
  tools: readonly Tool[],
  mode: 'first' | 'hold' | 'trust',
): Promise<Offering> {
  const items = [...tools];
  const lists = { 'tools/list': { member: 'tools', items } };
  const upstream = await startScripted('legacy', lists, () => ({ body: '{}' }));
  const { id } = await gateway.register(name, upstream.url, { tool_approval: mode });
  return { id, upstream, items };
}

/** Returns the held tools of a server from the API. */
export async function heldOf(gateway: Gateway, id: string): Promise<{ name: string }[]> {
  const { json } = await gateway.api('GET', `/api/v1/approvals?server=${id}&limit=500`);
  return json['approvals'] as { name: string }[];
}

/** Makes the server offer other tools and the gateway discover them, which holds them. */
export async function changeTools(
  gateway: Gateway,
  { id, items }: Offering,
  tools: readonly Tool[],
): Promise<void> {
  const before = JSON.stringify(await heldOf(gateway, id));
  items.splice(0, items.length, ...tools);
  for (const verb of ['disconnect', 'connect']) {
    await gateway.api('POST', `/api/v1/aggregator/servers/${id}/${verb}`);
  }
  await until('the gateway has seen it', WAIT_MS, async () =>
    JSON.stringify(await heldOf(gateway, id)) === before ? undefined : true,
  );
}
