/**
 * The set-up of the report on an integration system: a gateway with a model, its server of files and processes, and one of sales. Owns all
 * of it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Script } from '../../fixtures/model-script.ts';
import { addServer, OPENAI, startChats, type ChatGateway } from './chat-gateway.ts';
import { startDesktop, type Desktop } from './desktop-server.ts';
import type { Gateway } from './gateway.ts';
import { resultText, startScripted, type ScriptedUpstream } from './scripted-upstream.ts';

const KEY = 'key-of-the-filesystem-server';
export const SECRET = 'MCP_AUTH_SECRET_KEY';
/** Both ways in which the servers accept the key. */
export const HEADERS = { Authorization: `Bearer \${${SECRET}}`, 'Mcp-Auth-Token': `\${${SECRET}}` };
export const LOG = 'E1042 disk full on /dev/sda1\n';

const data = (text: string) => `data: ${text}\n\n`;
const begun = 'data: {"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"half';

/** Tools that respond with these bytes. */
const STREAMS = {
  hang: null,
  accepted: data('{"id":$ID,"result":"accepted","session":"s","toolRunId":"r"}'),
  partials:
    data('{"partial": "Hello "}') +
    data('{"partial": "World"}') +
    data('{"result": "Hello World"}'),
  lost: begun,
  malformed: data('{"jsonrpc":"2.0","id":$ID,"res'),
  unknown: data('{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Tool not found"}}'),
  complete: data('{"status": "complete"}'),
  bare: data('{"error": {"code": -32001,\ndata: "message": "File not found"}}'),
  output: `event: output\n${data('{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}')}`,
  resumed:
    'id: of-$ID\nretry: 10\ndata: {"jsonrpc":"2.0","method":"notifications/message",' +
    '"params":{"level":"info","data":"begun"}}\n\n',
  particular: data('{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Missing path"}}'),
};
/** A call that reports its progress for some time. */
const FLOW = {
  pieces: [1, 2, 3, 4, 5, 6, 7, 8].map(progress =>
    data(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":${progress}}}`,
    ),
  ),
  everyMs: 400,
};
const NESTED = {
  type: 'object',
  properties: {
    order: {
      type: 'object',
      properties: { lines: { type: 'array', items: { type: 'object' } } },
      required: ['lines'],
    },
  },
};
const LISTED = [
  { name: 'place_order', description: 'Places an order', inputSchema: NESTED },
  { name: 'as_drawn', description: 'x', parameters: { type: 'object', properties: {} } },
  { name: 'long', description: 'd'.repeat(2_000), inputSchema: { type: 'object' } },
  {
    name: 'run_the_report_of_the_day_before_yesterday_in_every_region.v2/all',
    inputSchema: { type: 'object' },
  },
];

export interface ToolAnswer {
  status: number;
  code?: string;
  detail?: string;
  text: string;
  /** Whether the result came from the cache. */
  isHit: boolean;
}

export interface IntegrationStand {
  chats: ChatGateway;
  gateway: Gateway;
  desktop: Desktop;
  sales: ScriptedUpstream;
  folder: string;
  /** Calls a tool over REST; a name without a server means one of `files`. */
  call(tool: string, given?: object, token?: string): Promise<ToolAnswer>;
  /** Executes a call in the model format of 2023. @returns the message with its result */
  tell(tool: string, given?: object): Promise<{ role: string; name: string; content: string }>;
  /** Runs one chat, with a model that says these things. */
  converse(message: object, turns: Script['turns'], id?: string): ReturnType<ChatGateway['chat']>;
  /** Returns the results that the model received, in order. */
  told(): Promise<string[]>;
  /** Returns the names of the tools that a caller sees, in OpenAI's format. */
  seen(token?: string): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a server of another team. */
export const startSales = (name = 'query_sales_data') =>
  startScripted(
    'legacy',
    {
      'tools/list': {
        member: 'tools',
        items: [name, 'read_file'].map(each => ({ name: each, inputSchema: { type: 'object' } })),
      },
    },
    ({ id }) => ({
      body: resultText(id, '{"content":[{"type":"text","text":"top 5: pens, ink, paper"}]}'),
    }),
  );

/** Starts a file server. @returns it, with the headers for its registration */
export async function startFiles(folder: string) {
  const options = { folder, key: KEY, streams: STREAMS, listed: LISTED, flow: FLOW };
  return { desktop: await startDesktop(options), headers: HEADERS };
}

/** Stores the key of the file servers. */
export async function storeKey(gateway: Gateway, origin: string): Promise<void> {
  const stored = { value: KEY, origins: [origin] };
  const answer = await gateway.api('PUT', `/api/v1/secrets/${SECRET}`, stored);
  if (answer.status > 201) throw new Error(answer.text);
}

/** Calls a tool over REST. */
export async function callOver(
  gateway: Gateway,
  tool: string,
  given: object,
  token?: string,
): Promise<ToolAnswer> {
  const name = tool.includes('.') ? tool : `files.${tool}`;
  const body = { name, arguments: given };
  const { status, json } = await gateway.api('POST', '/api/v1/tools/call', body, token);
  const content = (json['content'] ?? []) as { text: string }[];
  const meta = (json['_meta'] ?? {}) as { 'portico/cache'?: { hit: boolean } };
  return {
    status,
    ...(json as { code?: string; detail?: string }),
    text: content[0]?.text ?? '',
    isHit: meta['portico/cache']?.hit ?? false,
  };
}

export async function startIntegration(): Promise<IntegrationStand> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-integration-'));
  await writeFile(join(folder, 'error.log'), LOG);
  const { desktop, headers } = await startFiles(folder);
  const sales = await startSales();
  const chats = await startChats(OPENAI);
  const { gateway } = chats;
  await storeKey(gateway, desktop.origin);
  await addServer(chats, 'files', `${desktop.origin}/mcp`, { headers });
  await addServer(chats, 'sales', sales.url);
  return {
    chats,
    gateway,
    desktop,
    sales,
    folder,
    call: (tool, given = {}, token) => callOver(gateway, tool, given, token),
    async tell(tool, given = {}) {
      const call = { name: `files__${tool}`, arguments: JSON.stringify(given) };
      const message = { role: 'assistant', content: null, function_call: call };
      const body = { format: 'openai-chat', message };
      const { json } = await gateway.api('POST', '/api/v1/tools/execute', body);
      return (json['messages'] as { role: string; name: string; content: string }[])[0] as never;
    },
    async converse(message, turns, id) {
      await chats.script({ turns });
      return chats.chat(message, id);
    },
    async told() {
      const last = (await chats.requests()).at(-1) as {
        messages: { role: string; content: string }[];
      };
      return last.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    },
    async seen(token) {
      const path = '/api/v1/tools?format=openai-chat';
      const { json } = await gateway.api('GET', path, undefined, token);
      return (json['tools'] as { function: { name: string } }[]).map(each => each.function.name);
    },
    async stop() {
      await chats.stop();
      await Promise.all([desktop.stop(), sales.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
