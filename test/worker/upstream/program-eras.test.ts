/**
 * A program behind a connector that may run a second process for the legacy era, as the connector announces: discovery opens nothing in it,
 * legacy clients are served in their era from their first call on, and in the modern one, by one call, if that fails.
 */
import { describe, expect, it, vi } from 'vitest';
import { connectedProgram, textOf } from '../support/connected-program.ts';
import {
  FakeServer,
  resultOf,
  serve,
  type FakeServerOptions,
  type SeenPost,
} from '../support/fake-server.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  monitorOf,
  PATIENT,
  registerConnected,
  type Portico,
} from '../support/portico.ts';

const ASLEEP: FakeServerOptions = { era: 'both', lookStatus: 428 };
const isModern = ({ headers }: SeenPost) => headers.get('mcp-protocol-version') === '2026-07-28';
const refused = () => {
  const error = { code: -32022, message: 'Unsupported protocol version' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
};

/** The server's answers name the era of the call. */
function telling(server: FakeServer): FakeServer {
  server.call = post => {
    const base = isModern(post) ? { resultType: 'complete' } : {};
    const era = isModern(post) ? 'modern' : 'legacy';
    return resultOf(post, { ...base, content: [{ type: 'text', text: era }] });
  };
  return server;
}

/** A client of the legacy era that calls the tool of a server. */
async function connectLegacy(portico: Portico, name: string) {
  const headers = inSession(await initialize(portico));
  const params = { name: `${name}.echo`, arguments: {} };
  return async () => textOf(await portico.post(legacy('tools/call', params), { headers }));
}

async function callModern(portico: Portico, name: string) {
  const { message, headers } = modern('tools/call', { name: `${name}.echo`, arguments: {} });
  return textOf(await portico.post(message, { headers }));
}

describe('[MCP-5] [UP-1] a program that may have a process for the legacy era', () => {
  it('is not started in it for discovery, and is called in it by a legacy client', async () => {
    const portico = createPortico();
    const { server, id } = await connectedProgram(portico, 'lazy', ASLEEP);
    telling(server);
    await monitorOf(id).wake();
    const call = await connectLegacy(portico, 'lazy');
    expect([await callModern(portico, 'lazy'), server.of('initialize').length]).toEqual([
      'modern',
      0,
    ]);
    expect([await call(), await call()]).toEqual(['legacy', 'legacy']);
    expect(await callModern(portico, 'lazy')).toBe('modern');
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('is called in the modern one if it opens no session, by one call, and discovered again', async () => {
    const portico = createPortico();
    const { server } = await connectedProgram(portico, 'none', ASLEEP);
    telling(server).opening = refused;
    const call = await connectLegacy(portico, 'none');
    expect(await call()).toBe('modern');
    expect(server.of('tools/call')).toHaveLength(1);
    // What its connector found out.
    server.lookStatus = 405;
    await vi.waitFor(async () => {
      const before = server.of('initialize').length;
      expect(await call()).toBe('modern');
      expect(server.of('initialize')).toHaveLength(before);
    }, PATIENT);
  });

  it('is called in the modern one by a call whose session was forgotten', async () => {
    const portico = createPortico();
    const { server } = await connectedProgram(portico, 'gone', ASLEEP);
    telling(server);
    const call = await connectLegacy(portico, 'gone');
    expect(await call()).toBe('legacy');
    server.sessions.clear();
    server.opening = refused;
    const before = server.of('tools/call').length;
    expect(await call()).toBe('modern');
    // The first came in an unknown session, and was answered 404.
    expect(
      server
        .of('tools/call')
        .slice(before)
        .map(({ session }) => session),
    ).toEqual([expect.any(String), null]);
  });

  it('is announced by its connector only: the same from a network server has no effect', async () => {
    const portico = createPortico();
    const server = telling(new FakeServer(ASLEEP));
    serve({ net: server });
    await registerConnected(portico, 'net');
    const call = await connectLegacy(portico, 'net');
    expect([await call(), server.of('initialize').length]).toEqual(['modern', 0]);
  });

  it('fails in the legacy era with its own error, unless the handshake fails', async () => {
    const portico = createPortico();
    const { server } = await connectedProgram(portico, 'fails', ASLEEP);
    server.call = () => new Response('down', { status: 500 });
    const call = await connectLegacy(portico, 'fails');
    expect(await call()).toContain('500');
    expect(server.of('tools/call')).toHaveLength(1);
  });
});
