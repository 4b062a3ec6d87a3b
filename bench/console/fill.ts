/** Fills a gateway with more than a team has: 1,000 servers with ten tools each, 500 held definitions, and 100,000 audit rows of calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../local/host.ts';
import { mcpHeaders, rpcBody } from '../exchanges.ts';
import { registerMany } from '../register-many.ts';
import { requestJson } from '../setup.ts';

export const SERVERS = 1_000;
const TOOLS = 10;
const HELD_SERVERS = 50;
export const CALLS = 100_000;
const CALLS_AT_ONCE = 64;
/** Longest wait for rows of calls, which are written in batches and with a delay. */
const WRITTEN_MS = 60_000;
const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'];

interface Filling {
  token: string;
  /** Port of the upstream. */
  port: number;
  say(line: string): void;
}

/** Fills the gateway. @throws Error where something is missing at the end */
export async function fill(host: Host, { token, port, say }: Filling): Promise<void> {
  await registerMany(host, { token, port, count: SERVERS, tools: TOOLS });
  say(`${SERVERS} servers are connected`);
  const names = await toolNames(host, token);
  await addHeld(host, token, port);
  say(`${HELD_SERVERS * TOOLS} definitions are held`);
  const tokens = await Promise.all(
    NAMES.map(async name => {
      const body = { name, scopes: ['tools:read', 'tools:call'] };
      return (await requestJson<{ token: string }>(`${host.url}/api/v1/tokens`, token, body)).token;
    }),
  );
  await callMany(host, tokens, names, say);
  await untilCounted(host, token);
  say(`${CALLS} calls are in the audit`);
}

/** Returns the qualified names of a hundred tools. */
async function toolNames({ url }: Host, token: string): Promise<string[]> {
  const { servers } = await requestJson<{ servers: { tools: { name: string }[] }[] }>(
    `${url}/api/v1/tools`,
    token,
  );
  const names = servers.flatMap(({ tools }) => tools.map(({ name }) => name));
  if (names.length !== SERVERS * TOOLS) throw new Error(`${names.length} tools`);
  return names.filter((_, at) => at % 100 === 0);
}

async function addHeld({ url }: Host, token: string, port: number): Promise<void> {
  for (let at = 0; at < HELD_SERVERS; at += 1) {
    const address = `http://127.0.0.1:${port}/${SERVERS + at}/${TOOLS}`;
    await requestJson(`${url}/api/v1/aggregator/servers`, token, {
      name: `held-${at}`,
      transport_type: 'HTTP',
      tool_approval: 'hold',
      connection_config: { url: address },
    });
  }
  await untilThere(HELD_SERVERS * TOOLS, 'definitions are held', async () => {
    const { total } = await requestJson<{ total: number }>(
      `${url}/api/v1/approvals?limit=1`,
      token,
    );
    return total;
  });
}

async function callMany(
  { url }: Host,
  tokens: readonly string[],
  names: readonly string[],
  say: Filling['say'],
): Promise<void> {
  let begun = 0;
  const drive = async () => {
    for (let n = begun++; n < CALLS; n = begun++) {
      const name = names[n % names.length] ?? '';
      if (n % 20_000 === 0) say(`${n} of ${CALLS} calls`);
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          ...mcpHeaders('modern', tokens[n % tokens.length] ?? ''),
          'Mcp-Method': 'tools/call',
          'Mcp-Name': name,
        },
        body: rpcBody('modern', n + 1, 'tools/call', { name, arguments: {} }),
      });
      const text = await response.text();
      if (!text.includes('"result"')) throw new Error(`a call failed: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, drive));
}

/** Waits until the rows of the last calls are written. */
async function untilCounted({ url }: Host, token: string): Promise<void> {
  await untilThere(CALLS, 'rows of calls', async () => {
    const { parts } = await requestJson<{ parts: { done: number }[] }>(
      `${url}/api/v1/audit/counts?kind=calls`,
      token,
    );
    return parts.reduce((sum, { done }) => sum + done, 0);
  });
}

/**
 * Polls until the count is reached. Asks the gateway rather than its database: a database query blocks this process, which then does not
 * read workerd's output, and workerd blocks until its output is read.
 */
async function untilThere(wanted: number, what: string, count: () => Promise<number>) {
  const until = Date.now() + WRITTEN_MS;
  for (;;) {
    const there = await count();
    if (there >= wanted) return;
    if (Date.now() > until) throw new Error(`${there} ${what}`);
    await sleep(500);
  }
}
