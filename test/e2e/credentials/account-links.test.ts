/**
 * Clients of both SDKs whose user has no account at a server: they show the link, the user connects an account in a browser, and the call
 * is made.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
  UrlElicitationRequiredError as LinkRequired2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import {
  connectNotes,
  registerNotes,
  startNotes,
  type NotesServer,
} from '../support/notes-server.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';

let notes: NotesServer;
let gateway: Gateway;

beforeAll(async () => {
  [notes, gateway] = await Promise.all([startNotes(), startGateway()]);
  const whenStatus = await registerNotes(gateway, notes);
  await connectNotes(gateway, (await gateway.createToken({ name: 'First' })).token, 'first');
  await whenStatus('CONNECTED');
});
afterAll(async () => {
  await gateway?.stop();
  notes?.stop();
});

/** Does what the user does with a link: opens it, signs in, pastes a token of the server. */
async function followLink(link: string, ownToken: string, name: string): Promise<void> {
  const browser = createCookieBrowser();
  await browser.open(link);
  await browser.open(`${gateway.origin}/sign-in`, { code: ownToken, return: '/connect/notes' });
  const page = await browser.open(link, { token: `${name}-at-notes` });
  expect(page.text).toContain('Connected');
}

const requestInit = (token: string) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});
const capabilities = { elicitation: { url: {} } };

const ASKS = {
  'a tool': (client: Client1 | Client2) => client.callTool({ name: 'notes.whoami', arguments: {} }),
  'a prompt': (client: Client1 | Client2) => client.getPrompt({ name: 'notes.greet' }),
  'a resource': (client: Client1 | Client2) => client.readResource({ uri: 'notes+note://me' }),
};

it.each(Object.entries(ASKS))(
  '[ACC-8] [MCP-4] SDK 2 opens the link in its handler and gets the result: %s',
  async (what, ask) => {
    const name = `two-${what.slice(2)}`;
    const { token } = await gateway.createToken({ name });
    const client = new Client2(
      { name: 'e2e', version: '1.0.0' },
      { capabilities, versionNegotiation: { mode: { pin: MODERN_VERSION } } },
    );
    const shown: Record<string, unknown>[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      shown.push({ ...params });
      // The first time, the client continues before its user has finished.
      if (shown.length > 1) await followLink(String(shown[0]?.['url']), token, name);
      return { action: 'accept' };
    });
    await client.connect(new Http2(new URL('/mcp', gateway.origin), requestInit(token)));
    const result = await ask(client);
    expect(JSON.stringify(result)).toContain(`${name}-at-notes`.toUpperCase());
    expect(shown).toMatchObject(
      [1, 2].map(() => ({ mode: 'url', url: `${gateway.origin}/connect/notes` })),
    );
    expect(JSON.stringify(shown)).not.toContain('elicitationId');
    await client.close();
  },
);

it('[ACC-8] SDK 2 whose user declines gets the failure, with the link', async () => {
  const { token } = await gateway.createToken({ name: 'no' });
  const client = new Client2(
    { name: 'e2e', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: { pin: MODERN_VERSION } } },
  );
  let asked = 0;
  client.setRequestHandler('elicitation/create', () => {
    asked += 1;
    return { action: 'decline' };
  });
  await client.connect(new Http2(new URL('/mcp', gateway.origin), requestInit(token)));
  const result = await ASKS['a tool'](client);
  expect([asked, (result as { isError?: boolean }).isError]).toEqual([1, true]);
  expect(JSON.stringify(result)).toContain(`${gateway.origin}/connect/notes`);
  await client.close();
});

it.each(Object.entries(ASKS))(
  '[ACC-8] SDK 1 catches the error with the link, and gets the result when it calls again: %s',
  async (what, ask) => {
    const name = `one-${what.slice(2)}`;
    const { token } = await gateway.createToken({ name });
    const client = new Client1({ name: 'e2e', version: '1.0.0' }, { capabilities });
    const transport = new Http1(new URL('/mcp', gateway.origin), requestInit(token));
    await client.connect(transport as Transport);
    const thrown: unknown = await ask(client).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(UrlElicitationRequiredError);
    const [elicitation, ...more] = (thrown as UrlElicitationRequiredError).elicitations;
    expect(more).toEqual([]);
    expect(elicitation).toMatchObject({ mode: 'url', url: `${gateway.origin}/connect/notes` });
    await followLink(elicitation?.url ?? '', token, name);
    expect(JSON.stringify(await ask(client))).toContain(`${name}-at-notes`.toUpperCase());
    await client.close();
  },
);

it('[ACC-8] SDK 2 in a session of 2025-11-25 gets that error, and a client that opens no links gets the address', async () => {
  const { token } = await gateway.createToken({ name: 'session' });
  const connect = async (declared: object) => {
    const client = new Client2(
      { name: 'e2e', version: '1.0.0' },
      { capabilities: declared, versionNegotiation: { mode: 'legacy' } },
    );
    await client.connect(new Http2(new URL('/mcp', gateway.origin), requestInit(token)));
    return client;
  };
  const [opening, plain] = [await connect(capabilities), await connect({})];
  const thrown: unknown = await ASKS['a tool'](opening).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(LinkRequired2);
  const [elicitation] = (thrown as LinkRequired2).elicitations;
  expect(elicitation?.url).toBe(`${gateway.origin}/connect/notes`);
  const told = await ASKS['a tool'](plain);
  expect([(told as { isError?: boolean }).isError, JSON.stringify(told)]).toEqual([
    true,
    expect.stringContaining(`${gateway.origin}/connect/notes `),
  ]);
  await Promise.all([opening.close(), plain.close()]);
});
