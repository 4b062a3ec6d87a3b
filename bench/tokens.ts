/**
 * What a list of tools costs a model: the tokens of `tools/list` with 1,000 and with 10,000 tools, beside those of the three tools of
 * `?tools=search`, and of what those three return on the way to one call. Counted with o200k_base (gpt-tokenizer); other tokenizers differ
 * by some percent.
 *
 * Owns: the upstream, the host and its data folder.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { startHost } from '../local/host.ts';
import { readSourceFiles } from '../local/source-files.ts';
import { requestJson, waitForServers } from './setup.ts';

const UPSTREAM = fileURLToPath(new URL('./search-upstream.ts', import.meta.url));
const SERVERS = 10;
const TOTALS = [1_000, 10_000] as const;
const HOUR_MS = 3_600_000;
const QUERY = 'send a message to the channel of my team';

interface Answer {
  result: {
    tools?: unknown[];
    nextCursor?: string;
    content?: { text: string }[];
    structuredContent?: { tools: { name: string }[] };
  };
}

/** Tokens of everything that a model reads. */
interface Counts {
  total: number;
  list: number;
  three: number;
  found: number;
  described: number;
}

async function measureTotal(upstreamPort: number, total: number): Promise<Counts> {
  const token = `portico_${randomBytes(32).toString('base64url')}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-tokens-'));
  const keys = { active: 'k1', keys: { k1: randomBytes(32).toString('base64') } };
  const env = {
    PORTICO_KEYS: JSON.stringify(keys),
    PORTICO_ADMIN_TOKEN: token,
    PORTICO_DISCOVERY_INTERVAL_MS: String(HOUR_MS),
    PORTICO_HEALTH_INTERVAL_MS: String(HOUR_MS),
  };
  const host = await startHost({ files: await readSourceFiles(), dataDir, port: 0, env });
  try {
    const api = `${host.url}/api/v1`;
    const names = Array.from({ length: SERVERS }, (_, index) => `server-${index}`);
    for (const [index, name] of names.entries()) {
      const url = `http://127.0.0.1:${upstreamPort}/${index}/${total / SERVERS}`;
      const record = { name, transport_type: 'HTTP', connection_config: { url } };
      await requestJson(`${api}/aggregator/servers`, token, record);
    }
    await waitForServers(api, token, new Set(names), total / SERVERS);
    const ask = async (tools: string, method: string, params: object) => {
      const body = { jsonrpc: '2.0', id: 1, method, params };
      return (await requestJson<Answer>(`${host.url}/mcp?tools=${tools}`, token, body)).result;
    };
    const use = async (name: string, given: object) =>
      ask('search', 'tools/call', { name, arguments: given });
    const listOf = async (tools: string) => {
      const listed: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await ask(tools, 'tools/list', cursor === undefined ? {} : { cursor });
        listed.push(...(page.tools ?? []));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return listed;
    };
    const list = await listOf('all');
    if (list.length !== total) throw new Error(`${list.length} of ${total} tools were listed`);
    const found = await use('search_tools', { query: QUERY });
    const name = found.structuredContent?.tools[0]?.name;
    const described = await use('describe_tool', { name });
    return {
      total,
      // Tool by tool: the cost of a list is the sum over its tools.
      list: list.reduce<number>((sum, tool) => sum + tokensOf(tool), 0),
      three: (await listOf('search')).reduce<number>((sum, tool) => sum + tokensOf(tool), 0),
      found: countTokens(found.content?.[0]?.text ?? ''),
      described: countTokens(described.content?.[0]?.text ?? ''),
    };
  } finally {
    await host.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const tokensOf = (tool: unknown) => countTokens(JSON.stringify(tool));
const shown = (count: number) => count.toLocaleString('en-US');

/** Runs everything; returns a table. */
export async function measureTokens(say: (line: string) => void): Promise<string> {
  const upstream = fork(UPSTREAM, { stdio: 'inherit' });
  const [message] = (await once(upstream, 'message')) as { port: number }[];
  if (!message) throw new Error('the upstream did not start');
  try {
    const rows: string[] = [];
    for (const total of TOTALS) {
      say(`${total} tools of ${SERVERS} servers`);
      const { list, three, found, described } = await measureTotal(message.port, total);
      const cells = [total, list, three, found, described].map(shown);
      rows.push(`| ${cells.join(' | ')} |`);
    }
    return [
      '| Tools | `tools/list` | the three tools | an answer of `search_tools` | of `describe_tool` |',
      '| ----: | -----------: | --------------: | --------------------------: | -----------------: |',
      ...rows,
      '',
      'Tokens of o200k_base.',
    ].join('\n');
  } finally {
    if (upstream.connected) upstream.disconnect();
  }
}
