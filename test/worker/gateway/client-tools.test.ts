/**
 * Tools that a server offers only to clients with certain capabilities: listed for them, callable by them, unknown to all others, and
 * approved like every other tool.
 */
import { describe, expect, it, vi } from 'vitest';
import { FakeServer, resultOf, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  inSession,
  legacy,
  modern,
  monitorOf,
  PATIENT,
  registerConnected,
  SERVERS,
  type Portico,
  type RpcAnswer,
  type Sent,
} from '../support/portico.ts';

const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
type Capabilities = Record<string, object>;

const ALL = {
  roots: {},
  sampling: { tools: {} },
  elicitation: { form: {}, url: {} },
} satisfies Capabilities;

/** A tool for each declared capability, and one for two of them together. */
function toolsFor(declared: Record<string, unknown> = {}): unknown[] {
  const { roots, sampling, elicitation } = declared as Record<string, Record<string, unknown>>;
  return [
    ...(roots ? [toolOf('see-roots')] : []),
    ...(sampling ? [toolOf('ask-model')] : []),
    ...(elicitation?.['url'] ? [toolOf('open-page')] : []),
    ...(roots && elicitation ? [toolOf('ask-where')] : []),
  ];
}

const ALL_NAMES = ['ask-model', 'ask-where', 'echo', 'open-page', 'see-roots'];

/** A client of an era that declared these capabilities. */
async function clientOf(portico: Portico, era: Era, path: string, capabilities: Capabilities) {
  let own: Sent = {};
  if (era === 'legacy') {
    const clientInfo = { name: 't', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    const opened = await portico.post(legacy('initialize', params), {}, path);
    own = { headers: inSession(opened.headers.get('mcp-session-id') ?? '') };
  }
  const send = async (method: string, params: Record<string, unknown> = {}) => {
    const { message, headers } =
      era === 'legacy' ? ask(era, method, params) : modern(method, params);
    if ('_meta' in message.params) {
      const meta = message.params._meta as Record<string, unknown>;
      meta['io.modelcontextprotocol/clientCapabilities'] = capabilities;
    }
    const response = await portico.post(message, { headers: { ...headers, ...own.headers } }, path);
    return response.json<RpcAnswer>();
  };
  return {
    send,
    names: async () => (await send('tools/list')).result?.tools?.map(({ name }) => name).toSorted(),
  };
}

const registered = new Map<string, FakeServer>();

async function connect(name: string, more: object = {}, server = new FakeServer({ toolsFor })) {
  registered.set(name, server);
  serve(Object.fromEntries(registered));
  const portico = createPortico();
  const record = await registerConnected(portico, name, more);
  return { server, portico, record, path: `/mcp/servers/${name}` };
}

describe("tools that depend on the client's capabilities", () => {
  it.each(ERAS)(
    '[MCP-4] [MCP-5] are listed for, and callable by, %s clients with them',
    async era => {
      const { portico, record, path } = await connect(`asks-${era}`);
      expect(record.tool_count).toBe(5);
      const cases: [Capabilities, string[]][] = [
        [{}, ['echo']],
        [{ roots: {} }, ['echo', 'see-roots']],
        [{ sampling: {} }, ['ask-model', 'echo']],
        [{ elicitation: {} }, ['echo']],
        [{ elicitation: { url: {} } }, ['echo', 'open-page']],
        [{ sampling: {}, elicitation: { form: {} } }, ['ask-model', 'echo']],
        [ALL, ALL_NAMES],
      ];
      for (const [capabilities, names] of cases) {
        const client = await clientOf(portico, era, path, capabilities);
        expect(await client.names()).toEqual(names);
        for (const name of ALL_NAMES) {
          const { result, error } = await client.send('tools/call', { name, arguments: { a: 1 } });
          expect(result?.content?.[0]?.text ?? error?.message).toBe(
            names.includes(name) ? '{"a":1}' : `Tool not found: ${name}`,
          );
        }
      }
    },
  );

  it('[MCP-4] are discovered in few sessions, all of which are ended, and not again while nothing changes', async () => {
    const { server, portico, record } = await connect('counted');
    const opened = server.of('initialize').length;
    expect(opened).toBeLessThanOrEqual(13);
    await vi.waitFor(() => expect(server.ended).toHaveLength(opened - 1), PATIENT);
    await monitorOf(record.id).rebuild('none');
    expect(server.of('initialize')).toHaveLength(opened);
    await portico.settle();
  });

  it('[MCP-4] are known from the start, of a server that takes its time for each session', async () => {
    const server = new FakeServer({ toolsFor });
    server.answers.set('tools/list', async post => {
      await new Promise(resolve => setTimeout(resolve, 700));
      const declared = server.sessions.get(post.session ?? '');
      return resultOf(post, { tools: [...server.tools, ...toolsFor(declared)] });
    });
    const { portico, record, path } = await connect('slow', {}, server);
    const client = await clientOf(portico, 'legacy', path, ALL);
    expect(await client.names()).toEqual(ALL_NAMES);
    expect(record).toMatchObject({ tool_count: 5, held_tools: 0 });
  });

  it('[SEC-7] are held like any other tool if they appear later', async () => {
    const { server, portico, record, path } = await connect('later');
    const client = await clientOf(portico, 'legacy', path, ALL);
    expect(await client.names()).toEqual(ALL_NAMES);
    server.toolsFor = declared => [
      ...toolsFor(declared),
      ...(declared?.['sampling'] ? [toolOf('new-one')] : []),
    ];
    await monitorOf(record.id).wake();
    await vi.waitFor(async () => {
      const response = await portico.api('GET', `${SERVERS}/${record.id}`);
      expect((await response.json<{ held_tools: number }>()).held_tools).toBe(1);
    }, PATIENT);
    expect(await client.names()).toEqual(ALL_NAMES);
  });

  it('[MCP-4] stay while their discovery fails for a while', async () => {
    const { server, portico, record, path } = await connect('shaky');
    const client = await clientOf(portico, 'legacy', path, ALL);
    expect(await client.names()).toEqual(ALL_NAMES);
    server.opening = () => new Response(null, { status: 503 });
    server.tools = [toolOf('echo'), toolOf('other')];
    await monitorOf(record.id).wake();
    await vi.waitFor(async () => {
      const response = await portico.api('GET', `${SERVERS}/${record.id}`);
      expect((await response.json<{ held_tools: number }>()).held_tools).toBe(1);
    }, PATIENT);
    expect(await client.names()).toEqual(ALL_NAMES);
  });
});
