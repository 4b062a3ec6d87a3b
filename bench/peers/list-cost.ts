/** What a list of 10,000 tools costs a model that reads all of it: tokens of o200k_base, for the JSON of each tool. */
import { performance } from 'node:perf_hooks';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connectClient } from './client.ts';
import { withHome } from './fidelity.ts';
import type { Endpoint, Gateway } from './gateway.ts';
import { startWide } from './upstreams.ts';

/** The cost of one list. */
export interface ListCost {
  name: string;
  tools: number;
  tokens: number;
  tookMs: number;
}

const SERVERS = 10;

async function countList(name: string, endpoint: Endpoint): Promise<ListCost> {
  const client = await connectClient(endpoint, 'legacy');
  const start = performance.now();
  const tools = await client.list('tools');
  const tookMs = performance.now() - start;
  await client.close();
  const tokens = tools.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0);
  return { name, tools: tools.length, tokens, tookMs };
}

/** @param total number of tools, on ten servers if a gateway joins them, else on one */
export async function measureLists(
  gateway: Gateway | undefined,
  total: number,
): Promise<ListCost[]> {
  return withHome(async home => {
    const { upstreams, stop } = await startWide();
    const servers = gateway?.joins === true ? SERVERS : 1;
    const parts = upstreams.parts(servers, total / servers);
    const started = await gateway?.start(parts, home);
    try {
      const lists = started
        ? [{ name: gateway?.name ?? '', endpoint: started.endpoint }, ...(started.otherLists ?? [])]
        : [{ name: 'direct', endpoint: { transport: 'http' as const, url: parts[0]?.url ?? '' } }];
      const costs: ListCost[] = [];
      for (const { name, endpoint } of lists) costs.push(await countList(name, endpoint));
      return costs;
    } finally {
      await started?.stop();
      await stop();
    }
  });
}
