/**
 * What a server sends on the streams of a client's session, directly and through the gateway: resource updates, list changes and log
 * messages. Each client receives its own, once; nobody else does.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  startEverything,
  startFixture,
  until,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';
import { watchStream } from '../support/watched-stream.ts';

interface Hearing {
  updates: string[];
  logs: unknown[];
  lists: number;
  subscribe(uri: string): Promise<void>;
  setLevel(level: 'debug' | 'info' | 'error'): Promise<void>;
  call(tool: string, given?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

interface Place {
  url: string;
  token?: string;
}

const SOON_MS = 60_000;
const identity = { name: 'portico-e2e', version: '1.0.0' };
const opened: Hearing[] = [];

let gateway: Gateway;
let telling: Upstream;
let everything: Upstream;

const textOf = (result: unknown) =>
  (result as { content: { text?: string }[] }).content.map(({ text }) => text ?? '').join('');

const initOf = ({ token }: Place) =>
  token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };

/** Connects a 1.x client over Streamable HTTP, with its notification stream open, or over HTTP+SSE. */
async function connect1({ url, ...place }: Place): Promise<Hearing> {
  const client = new Client1(identity);
  const watched = watchStream();
  const isSse = new URL(url).pathname.startsWith('/sse');
  const transport = isSse
    ? new SSEClientTransport(new URL(url), initOf({ url, ...place }))
    : new Http1(new URL(url), {
        ...initOf({ url, ...place }),
        ...(place.token === undefined ? {} : { fetch: watched.fetch }),
      });
  const hearing: Hearing = {
    updates: [],
    logs: [],
    lists: 0,
    subscribe: async uri => void (await client.subscribeResource({ uri })),
    setLevel: async level => void (await client.setLoggingLevel(level)),
    call: async (name, given = {}) => textOf(await client.callTool({ name, arguments: given })),
    close: () => client.close(),
  };
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    hearing.updates.push(params.uri);
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    hearing.logs.push(params.data);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    hearing.lists += 1;
  });
  await client.connect(transport as Transport);
  if (!isSse && place.token !== undefined) await watched.isOpen;
  opened.push(hearing);
  return hearing;
}

/** Connects a 2.x client that speaks the modern era only; it listens on its own stream. */
async function connectModern({ url, ...place }: Place): Promise<Hearing> {
  const client = new Client2(identity, {
    versionNegotiation: { mode: { pin: MODERN_VERSION } },
  });
  const hearing: Hearing = {
    updates: [],
    logs: [],
    lists: 0,
    subscribe: async uri => void (await client.listen({ resourceSubscriptions: [uri] })),
    setLevel: () => Promise.reject(new Error('The modern era has no such request')),
    call: async (name, given = {}) =>
      textOf(
        await client.callTool({
          name,
          arguments: given,
          _meta: { 'io.modelcontextprotocol/logLevel': 'debug' },
        }),
      ),
    close: () => client.close(),
  };
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    hearing.updates.push(params.uri);
  });
  client.setNotificationHandler('notifications/message', ({ params }) => {
    hearing.logs.push(params.data);
  });
  await client.connect(new Http2(new URL(url), initOf({ url, ...place })));
  opened.push(hearing);
  return hearing;
}

const at = (path: string, token = gateway.adminToken): Place => ({
  url: `${gateway.origin}${path}`,
  token,
});

const heard = (what: string, isHeard: () => boolean) =>
  until(what, SOON_MS, async () => (isHeard() ? true : undefined));

/** Waits until everything sent before has arrived: it sends a message to every session afterwards. */
async function settled(...clients: Hearing[]): Promise<void> {
  const mark = `mark-${Math.random()}`;
  await telling.counters(`?log=${mark}&level=error`);
  for (const client of clients) await heard(mark, () => client.logs.includes(mark));
}

beforeAll(async () => {
  [telling, everything, gateway] = await Promise.all([
    startFixture('telling-legacy'),
    startEverything('streamableHttp'),
    startGateway({ env: QUIET }),
  ]);
  await gateway.register('telling', `${telling.origin}/mcp`, { tool_approval: 'trust' });
  await gateway.register('everything', `${everything.origin}/mcp`);
}, 300_000);

afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map(client => client.close()));
});

afterAll(async () => {
  await gateway?.stop();
  await telling?.stop();
  await everything?.stop();
});

describe.each(['/mcp/servers/everything', '/sse/servers/everything'])('on %s', path => {
  it('[MCP-4] server-everything notifies a client as it does directly', async () => {
    const clients = [
      await connect1({ url: `${everything.origin}/mcp` }),
      await connect1(at(path)),
    ] as const;
    for (const client of clients) {
      await client.setLevel('debug');
      await client.subscribe('demo://resource/dynamic/text/1');
      await client.call('toggle-subscriber-updates');
      await client.call('toggle-simulated-logging');
    }
    for (const client of clients) {
      await heard('two updates and two log messages', () => {
        const simulated = client.logs.filter(data => / - SessionId /u.test(String(data)));
        return client.updates.length > 1 && simulated.length > 1;
      });
      expect(new Set(client.updates)).toEqual(new Set(['demo://resource/dynamic/text/1']));
      await client.call('toggle-subscriber-updates');
      await client.call('toggle-simulated-logging');
    }
  });
});

describe.each(['/mcp', '/sse'])('a legacy client on %s', path => {
  it('[MCP-4] gets updates of its resources in its own session, once, and nobody else does', async () => {
    const ada = await connect1(at(path));
    const bob = await connect1(at(path));
    for (const client of [ada, bob]) {
      await client.subscribe('telling+note://a');
      await client.call('telling.whoami');
    }
    expect(await ada.call('telling.whoami')).not.toBe(await bob.call('telling.whoami'));
    await ada.call('telling.touch', { text: 'note://a' });
    await heard('the update', () => ada.updates.length > 0);
    await settled(ada, bob);
    expect([ada.updates, bob.updates]).toEqual([['telling+note://a'], []]);
    await telling.counters('?touch=note://a');
    // Updates are sent in batches, so a later message may arrive before one.
    await heard('the update of all', () => ada.updates.length > 1 && bob.updates.length > 0);
    await settled(ada, bob);
    expect([ada.updates.length, bob.updates.length]).toEqual([2, 1]);
    await ada.call('telling.touch-here', { text: 'note://b' });
    await ada.call('telling.touch-here', { text: 'note://a' });
    await heard('the update of the call', () => ada.updates.length > 2);
    await settled(ada, bob);
    expect(new Set([...ada.updates, ...bob.updates])).toEqual(new Set(['telling+note://a']));
    expect([ada.updates.length, bob.updates.length]).toEqual([3, 1]);
  });

  it('[MCP-4] gets log messages between its calls, at its level or above', async () => {
    const ada = await connect1(at(path));
    const bob = await connect1(at(path));
    for (const client of [ada, bob]) await client.call('telling.whoami');
    await ada.call('telling.log', { text: 'to ada' });
    await heard('the message', () => ada.logs.includes('to ada'));
    await ada.call('telling.log-here', { text: 'here' });
    await telling.counters('?log=all');
    await settled(ada, bob);
    const told = (client: Hearing) => client.logs.filter(data => !String(data).startsWith('mark'));
    expect([told(ada), told(bob)]).toEqual([['to ada', 'here', 'all'], ['all']]);
    await ada.setLevel('error');
    await telling.counters('?log=quiet&level=info');
    await telling.counters('?log=loud&level=error');
    await settled(ada, bob);
    expect([told(ada).at(-1), told(ada).includes('quiet')]).toEqual(['loud', false]);
    expect(told(bob).slice(-2)).toEqual(['quiet', 'loud']);
  });

  it('[MCP-4] [REG-5] is notified of a list change that its session alone was sent', async () => {
    const ada = await connect1(at(path));
    await ada.call('telling.whoami');
    await ada.call('telling.grow');
    await heard('the change', () => ada.lists > 0);
    expect(ada.lists).toBe(1);
  });

  it('[MCP-4] [UP-2] still gets updates when its server has forgotten all sessions', async () => {
    const ada = await connect1(at(path));
    await ada.subscribe('telling+note://a');
    await telling.counters('?forget=1');
    await ada.call('telling.whoami');
    await until('it is subscribed to again', SOON_MS, async () =>
      (await telling.counters())['subscribed'] === 1 ? true : undefined,
    );
    await ada.call('telling.touch', { text: 'note://a' });
    await heard('the update', () => ada.updates.length > 0);
    expect(ada.updates).toEqual(['telling+note://a']);
  });
});

describe('a modern client', () => {
  it('[MCP-5] gets resource updates from the session of its calls, and logs on its calls', async () => {
    const ada = await connectModern(at('/mcp'));
    await ada.subscribe('telling+note://a');
    await ada.call('telling.touch', { text: 'note://a' });
    await heard('the update', () => ada.updates.length > 0);
    await ada.call('telling.log-here', { text: 'words' });
    await heard('the log message', () => ada.logs.includes('words'));
    expect(ada.logs).toEqual(['words']);
    expect(ada.updates).toEqual(['telling+note://a']);
  });

  it("[MCP-4] [ACC-3] of another principal gets none of another's updates", async () => {
    const { token } = await gateway.createToken({ name: 'other' });
    const other = await connectModern(at('/mcp', token));
    const ada = await connectModern(at('/mcp'));
    await other.subscribe('telling+note://a');
    await ada.subscribe('telling+note://a');
    await ada.call('telling.touch', { text: 'note://a' });
    await heard('the update', () => ada.updates.length > 0);
    await other.call('telling.touch', { text: 'note://a' });
    await heard('its own update', () => other.updates.length > 0);
    expect([ada.updates, other.updates]).toEqual([['telling+note://a'], ['telling+note://a']]);
  });
});
