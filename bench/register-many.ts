/** Registers many servers of `search-upstream.ts` at one gateway, and waits for their tools. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../local/host.ts';
import { requestJson } from './setup.ts';

const IMPORTED_AT_ONCE = 100;
const CONNECT_MS = 600_000;

interface Many {
  /** Token of an administrator. */
  token: string;
  /** Port of the upstream. */
  port: number;
  count: number;
  /** Tools per server. */
  tools: number;
}

/** Registers the servers `server-0` and on. @throws Error where they are not all connected in time */
export async function registerMany(host: Host, { token, port, count, tools }: Many): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i);
  const urlOf = (i: number) => `http://127.0.0.1:${port}/${i}/${tools}`;
  for (let from = 0; from < count; from += IMPORTED_AT_ONCE) {
    const some = numbers.slice(from, from + IMPORTED_AT_ONCE);
    const entries = some.map(i => [`server-${i}`, { type: 'http', url: urlOf(i) }]);
    const mcpServers = Object.fromEntries(entries) as unknown;
    await requestJson(`${host.url}/api/v1/aggregator/import`, token, { mcpServers });
  }
  const database = host.database();
  const until = Date.now() + CONNECT_MS;
  for (;;) {
    const { results } = await database
      .prepare("SELECT COUNT(*) AS n FROM servers WHERE status = 'CONNECTED' AND tool_count = ?")
      .bind(tools)
      .all<{ n: number }>();
    if (results[0]?.n === count) return;
    if (Date.now() > until) throw new Error(`${results[0]?.n} of ${count} servers are connected`);
    await sleep(1_000);
  }
}
