/**
 * Servers of both eras: each client is served in its own, also if the server offers other items in it, and the gateway notices when a
 * server drops an era.
 */
import { describe, expect, it, vi } from 'vitest';
import { FakeServer, resultOf, serve, toolOf, type SeenPost } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  initialize,
  inSession,
  PATIENT,
  registerConnected,
  type Portico,
  type RpcAnswer,
  type Sent,
} from '../support/portico.ts';

const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];

const isModern = ({ headers }: SeenPost) => headers.get('mcp-protocol-version') === '2026-07-28';

/** A server of both eras whose answers name the era of the call. */
function createDual(options: ConstructorParameters<typeof FakeServer>[0] = {}): FakeServer {
  const server = new FakeServer({ era: 'both', ...options });
  server.call = post => {
    const era = isModern(post) ? 'modern' : 'legacy';
    const base = isModern(post) ? { resultType: 'complete' } : {};
    return resultOf(post, { ...base, content: [{ type: 'text', text: era }] });
  };
  return server;
}

async function send(
  portico: Portico,
  era: Era,
  method: string,
  params: Record<string, unknown> = {},
  sent: Sent = {},
): Promise<RpcAnswer> {
  const { message, headers } = ask(era, method, params);
  const response = await portico.post(message, {
    headers: { ...headers, ...sent.headers },
  });
  return response.json<RpcAnswer>();
}

const textOf = ({ result }: RpcAnswer) => result?.content?.[0]?.text;
const namesOf = ({ result }: RpcAnswer, server: string) =>
  result?.tools
    ?.map(({ name }) => name)
    .filter(name => name.startsWith(`${server}.`))
    .toSorted();

/** A legacy session, as headers of its requests. */
const session = async (portico: Portico): Promise<Sent> => ({
  headers: inSession(await initialize(portico)),
});

describe('a server of both eras', () => {
  it('[MCP-5] [UP-1] is called in the era of each client, without an extra request', async () => {
    const server = createDual();
    serve({ dual: server });
    const portico = createPortico();
    await registerConnected(portico, 'dual');
    const own = await session(portico);
    const call = { name: 'dual.echo', arguments: {} };
    expect(textOf(await send(portico, 'legacy', 'tools/call', call, own))).toBe('legacy');
    expect(textOf(await send(portico, 'modern', 'tools/call', call))).toBe('modern');
    const before = server.posts.length;
    expect(textOf(await send(portico, 'legacy', 'tools/call', call, own))).toBe('legacy');
    expect(textOf(await send(portico, 'modern', 'tools/call', call))).toBe('modern');
    expect(server.posts.slice(before).map(({ method }) => method)).toEqual([
      'tools/call',
      'tools/call',
    ]);
  });

  it('[MCP-5] is modern for all if its legacy era has no sessions and can send no server requests', async () => {
    serve({ plain: createDual({ sessionful: false }) });
    const portico = createPortico();
    await registerConnected(portico, 'plain');
    const call = { name: 'plain.echo', arguments: {} };
    for (const era of ERAS) {
      const own = era === 'legacy' ? await session(portico) : {};
      expect(textOf(await send(portico, era, 'tools/call', call, own))).toBe('modern');
    }
  });

  it('[MCP-5] lists to each client what it offers in its era', async () => {
    const server = createDual({
      toolsFor: declared => [toolOf(declared ? 'old' : 'new')],
    });
    serve({ both: server });
    const portico = createPortico();
    const { tool_count: count } = await registerConnected(portico, 'both');
    expect(count).toBe(3);
    const own = await session(portico);
    expect(namesOf(await send(portico, 'legacy', 'tools/list', {}, own), 'both')).toEqual([
      'both.echo',
      'both.old',
    ]);
    expect(namesOf(await send(portico, 'modern', 'tools/list'), 'both')).toEqual([
      'both.echo',
      'both.new',
    ]);
    const wrong = await send(portico, 'legacy', 'tools/call', { name: 'both.new' }, own);
    expect(wrong.error?.message).toBe('Tool not found: both.new');
  });

  it.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)('[UP-1] that drops its %s era serves all in the %s one', async (lost, kept) => {
    const server = createDual();
    const name = `no-${lost}`;
    serve({ [name]: server });
    const portico = createPortico();
    await registerConnected(portico, name);
    const own = lost === 'legacy' ? await session(portico) : {};
    const call = { name: `${name}.echo`, arguments: {} };
    expect(textOf(await send(portico, lost, 'tools/call', call, own))).toBe(lost);
    server.era = kept;
    server.sessions.clear();
    await vi.waitFor(async () => {
      expect(textOf(await send(portico, lost, 'tools/call', call, own))).toBe(kept);
    }, PATIENT);
  });
});
