/** Clients of both SDKs sign in as they do by default: a 401, discovery, a person, tokens, calls, a refresh, and a person again. */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeptSignIn } from '../support/kept-sign-in.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';
import { lastUnaware } from '../support/revocation.ts';
import { endAccessToken, startSignInGateway, type SignInGateway } from '../support/signing-in.ts';

const ENDED_WITHIN_MS = 1_000;
const MODERN = { pin: MODERN_VERSION };
const identity = { name: 'portico-e2e', version: '1.0.0' };
let stand: SignInGateway;

beforeAll(async () => {
  stand = await startSignInGateway();
});
afterAll(() => stand?.stop());

/** A client before its first connection, and the transport that completes its sign-in. */
interface Started {
  connect(): Promise<void>;
  finish(answer: URLSearchParams): Promise<void>;
  list(): Promise<string[]>;
  call(name: string, message: string): Promise<unknown>;
  close(): Promise<void>;
}

function startSdk1(transport: Http1 | SSEClientTransport): Started {
  const client = new Client1(identity);
  return {
    connect: () => client.connect(transport as Transport),
    finish: answer => transport.finishAuth(answer.get('code') ?? ''),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, message) =>
      (await client.callTool({ name, arguments: { message } })).content,
    close: () => client.close(),
  };
}

function startSdk2(transport: Http2, mode: 'legacy' | { pin: string }): Started {
  const client = new Client2(identity, { versionNegotiation: { mode } });
  return {
    connect: () => client.connect(transport),
    finish: answer => transport.finishAuth(answer),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, message) =>
      (await client.callTool({ name, arguments: { message } })).content,
    close: () => client.close(),
  };
}

const at = (path: string) => new URL(path, stand.gateway.origin);
const CLIENTS: Record<string, (authProvider: KeptSignIn) => Started> = {
  'SDK 1': authProvider => startSdk1(new Http1(at('/mcp'), { authProvider })),
  'SDK 1 over HTTP+SSE': authProvider =>
    startSdk1(new SSEClientTransport(at('/sse'), { authProvider })),
  'SDK 2, modern': authProvider => startSdk2(new Http2(at('/mcp'), { authProvider }), MODERN),
  'SDK 2, legacy': authProvider => startSdk2(new Http2(at('/mcp'), { authProvider }), 'legacy'),
  'SDK 2, one server': authProvider =>
    startSdk2(new Http2(at('/mcp/servers/rich'), { authProvider }), MODERN),
};

describe.each(Object.entries(CLIENTS))('%s', (name, start) => {
  // By default an SDK registers itself; a client with a metadata document can say so from the start.
  const registers = name === 'SDK 1' || name === 'SDK 2, modern';
  const isOld = name.endsWith('HTTP+SSE');
  const echo = name.endsWith('one server') ? 'echo' : 'rich.echo';

  it('[ACC-5] [ACC-7] [ACC-1] signs in, calls, refreshes, and asks again after its grant ended', async () => {
    const provider = registers
      ? new KeptSignIn()
      : new KeptSignIn(stand.document.id, stand.gateway.origin);
    const first = start(provider);
    await expect(first.connect()).rejects.toThrow(/unauthorized/i);
    const answer = new URL(await stand.person.allow(String(provider.asked[0]))).searchParams;
    expect(answer.get('iss')).toBe(stand.gateway.origin);
    await first.finish(answer);
    let client = start(provider);
    await client.connect();
    const used = provider.accessToken;
    expect(await client.list()).toContain(echo);
    expect(await client.call(echo, 'in')).toEqual([{ type: 'text', text: 'Echo: in' }]);
    const clientId = provider.clientInformation()?.client_id ?? '';
    await endAccessToken(stand.gateway, clientId, used);
    if (isOld) {
      // A session of this transport is its stream, which ends with the token that opened it.
      await client.close();
      client = start(provider);
      await client.connect();
    }
    expect(await client.call(echo, 'again')).toEqual([{ type: 'text', text: 'Echo: again' }]);
    expect(provider.accessToken).not.toBe(used);
    expect(provider.asked).toHaveLength(1);

    const [grant = ''] = await stand.grantsOf(clientId);
    expect((await stand.gateway.api('DELETE', `/api/v1/grants/${grant}`)).status).toBe(204);
    const isRefused = () =>
      client.call(echo, 'late').then(
        () => false,
        () => true,
      );
    expect(await lastUnaware(isRefused)).toBeLessThan(ENDED_WITHIN_MS);
    expect(provider.asked).toHaveLength(2);
    await client.close().catch(() => undefined);
    await first.close();
  });
});
