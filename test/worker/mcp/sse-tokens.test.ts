/** HTTP+SSE: a message acts with the token it was posted with, whoever opened the stream that answers it. */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  askForTokens,
  connect as allowProgram,
  createClient,
  refresh,
  type TokenAnswer,
} from '../support/oauth-client.ts';
import { createPerson, rowsOf, type Person } from '../support/call-rows.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  legacy,
  PATIENT,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';
import { readStream, type OpenStream } from '../support/event-streams.ts';

const portico = createPortico();
const open = new FakeServer({ sessionful: false, tools: [toolOf('echo'), toolOf('wipe')] });
const vault = new FakeServer({ sessionful: false, tools: [toolOf('open')] });
let wide: Person;

beforeAll(async () => {
  serve({ open, vault });
  await registerConnected(portico, 'open');
  await registerConnected(portico, 'vault');
});
beforeEach(async () => {
  serve({ open, vault });
  open.posts.length = 0;
  vault.posts.length = 0;
  wide = await createPerson(portico);
});

interface Client {
  stream: OpenStream;
  /** Posts a message with a token. */
  post(message: unknown, token: string): Promise<Response>;
  /** The answer to an id on the stream. */
  answerTo(id: number): Promise<RpcAnswer>;
}

async function connect({ token }: Pick<Person, 'token'>, path = '/sse'): Promise<Client> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  const stream = readStream(await portico.fetch(path, { headers }));
  await vi.waitFor(() => expect(stream.events).toHaveLength(1), PATIENT);
  const endpoint = stream.events[0]?.data ?? '';
  const answers = () =>
    stream.events.slice(1).map(({ data }) => JSON.parse(data ?? '') as RpcAnswer);
  return {
    stream,
    post: (message, own) =>
      portico.fetch(endpoint, {
        method: 'POST',
        headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
        body: JSON.stringify(message),
      }),
    answerTo: id =>
      vi.waitFor(() => {
        const found = answers().find(answer => answer.id === id);
        if (!found) throw new Error(`no answer to ${id}`);
        return found;
      }, PATIENT),
  };
}

/** Another token of the same principal. */
const tokenOf = ({ principalId }: Person, more: object) =>
  createToken(portico, { principal: principalId, ...more });

const call = (name: string, id: number) => legacy('tools/call', { name, arguments: {} }, id);
const namesOf = ({ result }: RpcAnswer) => result?.tools?.map(({ name }) => name).toSorted();

describe('a message on a stream that another token opened', () => {
  it('[MCP-2] [ACC-3] sees and calls what its own token allows', async () => {
    const client = await connect(wide);
    const narrow = await tokenOf(wide, { servers: ['open'], tools: ['open.echo'] });
    expect((await client.post(legacy('tools/list', {}, 1), narrow.token)).status).toBe(202);
    expect(namesOf(await client.answerTo(1))).toEqual(['open.echo']);
    await client.post(call('open.echo', 2), narrow.token);
    expect((await client.answerTo(2)).result?.content).toHaveLength(1);
    for (const [i, name] of ['open.wipe', 'vault.open', 'vault.none'].entries()) {
      await client.post(call(name, 10 + i), narrow.token);
      const { error } = await client.answerTo(10 + i);
      expect(error).toEqual({ code: -32601, message: `Tool not found: ${name}` });
    }
    expect(vault.of('tools/call')).toEqual([]);
    expect(open.of('tools/call')).toHaveLength(1);
    await client.post(legacy('tools/list', {}, 20), wide.token);
    expect(namesOf(await client.answerTo(20))).toEqual(['open.echo', 'open.wipe', 'vault.open']);
    await client.stream.close();
  });

  it('[MCP-2] [ACC-2] has the scopes of its own token', async () => {
    const client = await connect(wide);
    const reader = await tokenOf(wide, { scopes: ['tools:read'] });
    await client.post(call('open.echo', 1), reader.token);
    expect((await client.answerTo(1)).error?.code).toBe(4030);
    expect(open.of('tools/call')).toEqual([]);
    await client.stream.close();
  });

  it('[MCP-2] may do more than the token of the stream if its own token is wider', async () => {
    const narrow = await tokenOf(wide, { servers: ['open'] });
    const client = await connect({ ...wide, token: narrow.token });
    await client.post(legacy('tools/list', {}, 1), wide.token);
    expect(namesOf(await client.answerTo(1))).toContain('vault.open');
    await client.post(legacy('tools/list', {}, 2), narrow.token);
    expect(namesOf(await client.answerTo(2))).not.toContain('vault.open');
    await client.stream.close();
  });

  it('[MCP-2] [SEC-6] has rows that name its own token', async () => {
    const client = await connect(wide);
    const other = await tokenOf(wide, { tools: ['open.echo'] });
    await client.post(call('open.echo', 1), wide.token);
    await client.answerTo(1);
    await client.post(call('open.echo', 2), other.token);
    await client.answerTo(2);
    await client.post(call('open.wipe', 3), other.token);
    await client.answerTo(3);
    await client.stream.close();
    const rows = await rowsOf(portico, wide);
    const [first, ...others] = rows.toSorted((a, b) => a.at - b.at);
    expect(others.map(row => [row.tokenId, row.outcome])).toEqual([
      [other.id, 'done'],
      [other.id, 'denied'],
    ]);
    expect(first?.tokenId).not.toBe(other.id);
  });

  it('[MCP-2] reaches no endpoint that its own token cannot see, and leaves the stream open', async () => {
    const client = await connect(wide, '/sse/servers/vault');
    const narrow = await tokenOf(wide, { servers: ['open'] });
    await client.post(call('open', 1), narrow.token);
    expect((await client.answerTo(1)).error?.code).toBe(4040);
    expect(vault.of('tools/call')).toEqual([]);
    await client.post(call('open', 2), wide.token);
    expect((await client.answerTo(2)).result?.content).toHaveLength(1);
    expect(client.stream.ended()).toBe(false);
    await client.stream.close();
  });

  it('[MCP-2] of another principal is refused as if there were no such stream', async () => {
    const client = await connect(wide);
    const stranger = await createPerson(portico);
    const refused = await client.post(call('open.echo', 1), stranger.token);
    const gone = await portico.fetch('/messages?sessionId=k1.none', {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(call('open.echo', 1)),
    });
    expect([refused.status, await refused.text()]).toEqual([gone.status, await gone.text()]);
    expect(refused.status).toBe(404);
    expect(open.of('tools/call')).toEqual([]);
    await client.stream.close();
  });
});

describe('a stream', () => {
  const ended = (stream: OpenStream) =>
    vi.waitFor(() => expect(stream.ended()).toBe(true), { timeout: 1_000, interval: 20 });
  /** A program opens a stream and a session with the token of a person's grant. */
  async function allowed() {
    const clientId = await createClient();
    const scope = { resource: undefined };
    const first = await allowProgram(portico, clientId, wide.token, scope);
    return { clientId, first, client: await connect({ token: first.access_token }) };
  }
  const initialize = async (client: Client, token: string) => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    await client.post(legacy('initialize', params, 1), token);
    expect((await client.answerTo(1)).result).toBeDefined();
  };

  it('[MCP-2] [ACC-1] without messages ends within a second of its token', async () => {
    const { token, id } = await tokenOf(wide, {});
    const { stream } = await connect({ token });
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    await ended(stream);
  });

  it('[MCP-2] continues if the database fails for a moment', async () => {
    const { stream, post } = await connect(wide);
    const batch = env.DB.batch.bind(env.DB);
    let failures = 0;
    const failing = vi.spyOn(env.DB, 'batch').mockImplementation(statements => {
      if (failures === 2) return batch(statements);
      failures += 1;
      return Promise.reject(new Error('no database'));
    });
    // The reads after the two that fail succeed.
    await vi.waitFor(() => expect(failing.mock.calls.length).toBeGreaterThan(5), PATIENT);
    failing.mockRestore();
    expect(stream.ended()).toBe(false);
    expect((await post(legacy('ping', {}, 1), wide.token)).status).toBe(202);
    await stream.close();
  });

  it('[MCP-2] [ACC-5] continues with a newer token of the same grant, and ends with the grant', async () => {
    const { clientId, first, client } = await allowed();
    await initialize(client, first.access_token);
    const second = await (
      await refresh(portico, clientId, first.refresh_token)
    ).json<TokenAnswer>();
    await client.post(legacy('tools/list', {}, 2), second.access_token);
    expect(namesOf(await client.answerTo(2))).toContain('open.echo');
    const over = { client_id: clientId, token: first.access_token };
    expect((await askForTokens(portico, over, '/revoke')).status).toBe(200);
    expect((await client.post(legacy('ping', {}, 3), first.access_token)).status).toBe(401);
    // Longer than the end of a token takes to be noticed: the token that opened the stream has expired.
    await new Promise(resolve => setTimeout(resolve, 1_500));
    await client.post(call('open.echo', 4), second.access_token);
    expect((await client.answerTo(4)).result?.content).toHaveLength(1);
    expect(client.stream.ended()).toBe(false);
    const listed = await portico.api('GET', `/api/v1/grants?client=${clientId}`);
    const [grant] = (await listed.json<{ grants: { id: string }[] }>()).grants;
    expect((await portico.api('DELETE', `/api/v1/grants/${grant?.id}`)).status).toBe(204);
    await ended(client.stream);
  });

  it('[MCP-2] [ACC-5] without messages of a newer token ends with the one that opened it', async () => {
    const { clientId, first, client } = await allowed();
    await initialize(client, first.access_token);
    await refresh(portico, clientId, first.refresh_token);
    await askForTokens(portico, { client_id: clientId, token: first.access_token }, '/revoke');
    await ended(client.stream);
    expect(client.stream.ended()).toBe(true);
  });
});
