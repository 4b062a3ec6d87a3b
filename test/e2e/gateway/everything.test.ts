/**
 * The public demo server twice behind `/mcp`, over Streamable HTTP and over HTTP+SSE: every tool that it has for a client that can be asked
 * is listed, and each of its features works with each kind of client.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything, type Upstream } from '../../fixtures/start-fixture.ts';
import {
  answeringClients,
  answeringNames,
  ROOTS,
  type AnsweringClient,
} from '../support/answering-clients.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { clients } from '../support/sdk-clients.ts';

const SERVERS = ['http', 'sse'] as const;

const TOOLS = [
  'echo',
  'get-annotated-message',
  'get-env',
  'get-resource-links',
  'get-resource-reference',
  'get-roots-list',
  'get-structured-content',
  'get-sum',
  'get-tiny-image',
  'gzip-file-as-resource',
  'simulate-research-query',
  'toggle-simulated-logging',
  'toggle-subscriber-updates',
  'trigger-elicitation-request',
  'trigger-long-running-operation',
  'trigger-sampling-request',
  'trigger-url-elicitation',
];
/** The tools that it has for clients which can be asked. */
const ASKING = [
  'get-roots-list',
  'trigger-elicitation-request',
  'trigger-sampling-request',
  'trigger-url-elicitation',
];

/** Modern clients of one principal share a session at the server, so either text may come. */
const TOGGLED = /(?:Started|Stopped) simulat/u;

type Given = Record<string, unknown>;
/** A call of a tool and the text in its result. */
const CALLS: [feature: string, tool: string, given: Given, said: string | RegExp][] = [
  ['text', 'echo', { message: 'hi' }, 'Echo: hi'],
  ['numbers', 'get-sum', { a: 40, b: 2 }, 'The sum of 40 and 2 is 42'],
  ['annotations', 'get-annotated-message', { messageType: 'error' }, '"priority":1'],
  ['an image', 'get-tiny-image', {}, '"mimeType":"image/png"'],
  ['structured content', 'get-structured-content', { location: 'Chicago' }, 'structuredContent'],
  ['the environment', 'get-env', {}, 'PATH'],
  ['resource links', 'get-resource-links', { count: 2 }, '"type":"resource_link"'],
  [
    'an embedded resource',
    'get-resource-reference',
    { resourceType: 'Text', resourceId: 1 },
    'dynamic/text/1',
  ],
  [
    'a resource of the session',
    'gzip-file-as-resource',
    { name: 'a.txt.gz', data: 'data:text/plain;base64,aGk=', outputType: 'resource' },
    'application/gzip',
  ],
  ['roots', 'get-roots-list', {}, ROOTS[0]?.uri ?? ''],
  ['a form', 'trigger-elicitation-request', {}, 'Ada'],
  ['a page to open', 'trigger-url-elicitation', { url: 'https://example.com/a' }, /accept/iu],
  ['a question to a model', 'trigger-sampling-request', { prompt: 'a', maxTokens: 9 }, 'sampled'],
  ['simulated logging', 'toggle-simulated-logging', {}, TOGGLED],
  ['updates of subscribed resources', 'toggle-subscriber-updates', {}, TOGGLED],
];

const upstreams: Upstream[] = [];
let gateway: Gateway;

beforeAll(async () => {
  const [http, sse, started] = await Promise.all([
    startEverything('streamableHttp'),
    startEverything('sse'),
    startGateway(),
  ]);
  upstreams.push(http, sse);
  gateway = started;
  await Promise.all([
    gateway.register('http', `${http.origin}/mcp`),
    gateway.register('sse', `${sse.origin}/sse`, { transport_type: 'SSE' }),
  ]);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
});

describe.each(answeringNames)('%s, which can answer every question', name => {
  let client: AnsweringClient;
  beforeAll(async () => {
    client = await answeringClients[name]({ origin: gateway.origin, token: gateway.adminToken });
  });
  afterAll(() => client?.close());

  describe.each(SERVERS)('at the demo server over %s', server => {
    const named = (tool: string) => `${server}.${tool}`;

    it('[MCP-4] [MCP-5] lists 17 tools', async () => {
      const listed = (await client.tools()).filter(tool => tool.startsWith(`${server}.`));
      expect(listed.toSorted()).toEqual(TOOLS.map(named));
    });

    it.each(CALLS)('[MCP-4] [MCP-5] gets %s', async (_feature, tool, given, said) => {
      const text = await client.call(named(tool), given);
      expect(text).toMatch(said);
      expect(text).not.toContain('"isError":true');
    });

    it('[MCP-4] [UP-3] gets progress', async () => {
      const heard: number[] = [];
      const given = { duration: 0.4, steps: 4 };
      const call = client.call(named('trigger-long-running-operation'), given, at =>
        heard.push(at),
      );
      expect(await call).toContain('completed');
      // The 2.x SDK drops progress that arrives together with the result.
      expect(heard.length).toBeGreaterThanOrEqual(3);
    });

    it('[MCP-4] gets prompts, completed and with resources', async () => {
      expect(await client.prompt(named('simple-prompt'))).toContain('simple prompt');
      expect(await client.prompt(named('args-prompt'), { city: 'Rome' })).toContain('Rome');
      const departments = await client.complete(named('completable-prompt'), 'department', 'Eng');
      expect(departments).toEqual(['Engineering']);
      const given = { resourceType: 'Text', resourceId: '1' };
      expect(await client.prompt(named('resource-prompt'), given)).toContain('dynamic/text/1');
    });

    it('[MCP-4] lists, reads and subscribes to resources', async () => {
      const uris = (await client.resources()).filter(uri => uri.includes(server));
      expect(uris).not.toEqual([]);
      expect(await client.read(uris[0] ?? '')).toContain('"text"');
      const templates = (await client.templates()).filter(uri => uri.includes(server));
      const dynamic = templates.find(uri => uri.includes('text/'))?.replace(/\{\w+\}/u, '7') ?? '';
      expect(await client.read(dynamic)).toContain('Resource 7');
      await client.subscribe(uris[0] ?? '');
    });
  });
});

it.each(['SDK 1.x', 'SDK 2.x auto'] as const)(
  '[MCP-4] [MCP-9] %s, which cannot be asked, is offered only tools that ask nothing, and the others are unknown',
  async name => {
    const client = await clients[name]({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    const listed = (await client.listTools()).map(tool => tool.name);
    for (const server of SERVERS) {
      const own = listed.filter(tool => tool.startsWith(`${server}.`));
      const plain = TOOLS.filter(tool => !ASKING.includes(tool));
      expect(own.toSorted()).toEqual(plain.map(tool => `${server}.${tool}`));
      const refused = client.callTool(`${server}.get-roots-list`);
      await expect(refused).rejects.toThrow(`Tool not found: ${server}.get-roots-list`);
    }
    await client.close();
  },
);
