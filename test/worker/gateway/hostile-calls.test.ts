/** Calls with names and arguments built to keep the gateway busy: they are answered, and recorded within their bounds. */
import { describe, expect, it } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { MAX_NAME_CHARS } from '../../../src/shared/util/name-limits.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { createPortico, legacy, registerConnected, type RpcAnswer } from '../support/portico.ts';

const portico = createPortico();
const PIECES = ['-eyJ', '-a', 'a.', '"\\', 'Bearer ', '://', '-----BEGIN PRIVATE KEY', ' '];
const CHARS = 61_440;
/** The revision that has batches. */
const BATCHED = { 'mcp-protocol-version': '2025-03-26' };
const textOf = (piece: string) => piece.repeat(Math.floor(CHARS / piece.length));

describe('a batch of fifty calls', () => {
  it('[SEC-4] with hostile names is answered, and each has its row', async () => {
    const person = await createPerson(portico);
    const named = (chars: number) =>
      Array.from({ length: 50 }, (_, at) =>
        legacy(
          'tools/call',
          { name: textOf(PIECES[at % PIECES.length] ?? '').slice(0, chars) },
          at,
        ),
      );
    const send = (batch: object[]) =>
      portico.post(batch, { token: person.token, headers: BATCHED });
    const answers = await (await send(named(MAX_NAME_CHARS))).json<RpcAnswer[]>();
    expect(answers.filter(({ error }) => error)).toHaveLength(50);
    const rows = await rowsOf(portico, person);
    expect(rows).toHaveLength(50);
    expect(rows.every(({ subject }) => (subject ?? '').length <= 205)).toBe(true);
    // A longer one is refused with its whole batch, before it is parsed further.
    const refused = await send(named(CHARS));
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: -32602 } },
    ]);
  });

  it('[SEC-4] [MCP-7] with hostile arguments reaches the server unchanged', async () => {
    const server = new FakeServer({ era: 'modern' });
    serve({ flooded: server });
    await registerConnected(portico, 'flooded');
    const person = await createPerson(portico);
    const batch = Array.from({ length: 50 }, (_, at) => {
      const given = { text: textOf(PIECES[at % PIECES.length] ?? '') };
      return legacy('tools/call', { name: 'flooded.echo', arguments: given }, at);
    });
    const answers = await portico.post(batch, { token: person.token, headers: BATCHED });
    expect((await answers.json<RpcAnswer[]>()).filter(({ result }) => result)).toHaveLength(50);
    const came = server.of('tools/call').map(({ params }) => params['arguments']);
    expect(came).toHaveLength(50);
    expect(came).toEqual(
      expect.arrayContaining(batch.map(({ params }) => (params as never)['arguments'])),
    );
    for (const { detail } of await rowsOf(portico, person)) {
      expect(JSON.stringify(detail).length).toBeLessThan(6_000);
    }
  });
});

describe('a legacy call whose `_meta` is no object', () => {
  const call = async (name: string, meta: unknown) => {
    const server = new FakeServer({ era: 'modern' });
    serve({ [name]: server });
    await registerConnected(portico, name);
    const params = { name: `${name}.echo`, arguments: {}, _meta: meta };
    const answer = await (await portico.post(legacy('tools/call', params))).json<RpcAnswer>();
    return { ...answer, came: server.of('tools/call') };
  };

  it('[MCP-5] is made as one without, if it is null', async () => {
    const { result, came } = await call('bare', null);
    expect(result?.content).toHaveLength(1);
    expect(came).toHaveLength(1);
  });

  it.each([
    ['list', []],
    ['text', 'a'],
    ['number', 7],
  ])('[MCP-4] is refused, if it is a %s', async (name, meta) => {
    const { error, came } = await call(name, meta);
    expect(error).toMatchObject({ code: -32602, message: 'params._meta must be an object' });
    expect(came).toEqual([]);
  });
});
