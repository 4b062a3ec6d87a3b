/**
 * Public stdio servers, run unchanged by `portico connect`, at `/mcp`: real clients of both eras see their tools as the servers define
 * them, call each, and every call is in the audit.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { connectPrograms, type Connected } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { open, resultOf } from '../support/raw-client.ts';
import {
  ERAS,
  makeMachine,
  openClient,
  textIn,
  type ClientEra,
  type Machine,
} from '../support/programs.ts';

type Name = keyof Machine['programs'];
const NAMES: Name[] = ['files', 'memory', 'everything', 'desktop'];

/** The three places where a tool of MCP Apps names its page. */
const PAGE = /("(?:resourceUri|ui\/resourceUri|openai\/outputTemplate)":")ui:\/\//g;

type DirectTool = Awaited<ReturnType<typeof offeredDirectly>>[number];

let gateway: Gateway;
let machine: Machine;
let connected: Connected;

beforeAll(async () => {
  [machine, gateway] = await Promise.all([makeMachine(), startGateway()]);
  connected = await connectPrograms(gateway, 'desk', machine.programs);
  await writeFile(join(machine.folder, 'note.txt'), 'what is in it');
}, 300_000);

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
  await machine?.remove();
});

/** Returns what a program offers to a client that starts it itself. */
async function offeredDirectly(name: Name) {
  const transport = new StdioClientTransport({ ...machine.programs[name], stderr: 'ignore' });
  const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
  const client = new Client({ name: 'portico-e2e', version: '1.0.0' }, { capabilities });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools;
}

/**
 * Returns a tool as listed at `/mcp`: its name and its pages are qualified with the server; legacy tasks are not offered in the modern era.
 */
function toListed(era: ClientEra, server: string, { execution, ...tool }: DirectTool): object {
  const text = JSON.stringify({ ...tool, name: `${server}.${tool.name}` });
  const qualified = JSON.parse(text.replaceAll(PAGE, `$1ui://${server}/`)) as object;
  return era === 'legacy' && execution ? { ...qualified, execution } : qualified;
}

const one = (era: ClientEra, name: Name): { tool: string; given: Record<string, unknown> } => {
  const entity = { name: `Ada ${era}`, entityType: 'person', observations: ['counts — ∑'] };
  return {
    files: { tool: 'read_text_file', given: { path: join(machine.folder, 'note.txt') } },
    memory: { tool: 'create_entities', given: { entities: [entity] } },
    everything: { tool: 'get-sum', given: { a: 40, b: 2 } },
    desktop: { tool: 'get_file_info', given: { path: join(machine.folder, 'note.txt') } },
  }[name];
};
const answers: Record<Name, string> = {
  files: 'what is in it',
  memory: 'counts — ∑',
  everything: '42',
  desktop: 'size: 13',
};

it('[CLI-1] [AG-US1-AC2] public programs are STDIO servers of the registry', () => {
  for (const name of NAMES) {
    const record = connected.servers.get(name);
    expect(record).toMatchObject({ transport_type: 'STDIO', era: 'legacy', last_error: null });
    expect(record?.tool_count).toBeGreaterThan(5);
  }
});

describe.each(ERAS)('a %s client', era => {
  it.each(NAMES)('[CLI-1] [AG-US7-AC1] sees the tools of %s as it defines them', async name => {
    const client = await openClient(era, gateway);
    const listed = (await client.listTools()).filter(tool => tool.name.startsWith(`${name}.`));
    const direct = await offeredDirectly(name);
    expect(direct.length).toBeGreaterThan(5);
    const expected = direct.map(tool => toListed(era, name, tool));
    expect(listed).toEqual(expected);
    await client.close();
  });

  it.each(NAMES)('[CLI-1] [AG-US4-AC1] [SEC-6] calls %s, and the audit records it', async name => {
    const client = await openClient(era, gateway);
    const { tool, given } = one(era, name);
    const path = `/api/v1/audit?action=tool.call&subject=${name}.${tool}`;
    const rows = async () => (await gateway.api('GET', path)).json['events'] as object[];
    const before = (await rows()).length;
    expect(textIn(await client.callTool(`${name}.${tool}`, given))).toContain(answers[name]);
    const [row] = await until('the call has its row', 60_000, async () => {
      const found = await rows();
      return found.length === before + 1 ? found : undefined;
    });
    expect(row).toMatchObject({ outcome: 'done', code: null });
    await client.close();
  });
});

it.each(ERAS)(
  '[CLI-1] [MCP-4] a %s client reads the page of a tool as it was listed',
  async era => {
    const client = await open(era, { url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    const uri = 'ui://desktop/desktop-commander/file-preview';
    const { contents } = resultOf(await client.request('resources/read', { uri }));
    expect(JSON.stringify(contents)).toContain('<html');
  },
);

it('[CLI-1] clients of both eras share the program: one reads what the other wrote', async () => {
  const graph = await readFile(join(machine.folder, 'graph.jsonl'), 'utf8');
  for (const era of ERAS) {
    expect(graph).toContain(`Ada ${era}`);
    const client = await openClient(era, gateway);
    const text = textIn(await client.callTool('memory.read_graph'));
    for (const other of ERAS) expect(text).toContain(`Ada ${other}`);
    await client.close();
  }
});
