/** Calls through the gateway: unchanged, streamed as they come, and with a reason when they fail. */
import { describe, expect, it } from 'vitest';
import { resultOf, streamOf, type SeenPost } from '../support/fake-server.ts';
import {
  call,
  connect,
  createStream,
  ERAS,
  parseEvents,
  portico,
  progress,
  responseTo,
  readNext,
} from '../support/live-calls.ts';
import { ask, createPortico, type RpcAnswer, WHOLE } from '../support/portico.ts';

describe.each(ERAS)('a call of a %s client', era => {
  it.each(ERAS)(
    '[MCP-5] [MCP-7] [AG-US4-AC4] [AG-US4-AC5] to a %s server arrives as it was sent, and so does its result',
    async upstream => {
      const { name, server } = await connect(upstream);
      const result =
        '{"content":[{"type":"text","text":"\\u00e9\\/"}],"n":1.0,"big":12345678901234567890,"vendor":{"x":-0}}';
      server.call = ({ id }) =>
        new Response(`{"id":${String(id)},"result":${result},"jsonrpc":"2.0"}`, {
          headers: { 'content-type': 'application/json' },
        });
      const args =
        '{ "n" : 1.0, "big":12345678901234567890, "s":"\\u00e9\\/\\ud800", "__proto__":{"a":-0} }';
      const { message, headers } = call(name, era, { arguments: '@args' });
      const response = await portico.post(JSON.stringify(message).replace('"@args"', args), {
        headers: { ...WHOLE, ...headers },
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      const added = era === 'modern' ? '{"resultType":"complete",' : '{';
      expect(text).toBe(`{"jsonrpc":"2.0","id":"c1","result":${added}${result.slice(1)}}`);
      expect(server.of('tools/call')[0]?.text).toContain(`"arguments":${args}`);
      expect(server.of('tools/call')[0]?.params['name']).toBe('echo');
    },
  );

  it('[MCP-4] [MCP-7] forwards what comes before the response, in order, under its own id', async () => {
    const { name, server } = await connect('legacy');
    server.call = post =>
      streamOf(
        progress(1),
        { jsonrpc: '2.0', id: 'stranger', result: {} },
        progress(2),
        responseTo(post),
      );
    const { message, headers } = call(name, era);
    const response = await portico.post(message, { headers });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = parseEvents(await response.text());
    expect(events.map(({ method, params, id }) => (method ? params?.progress : id))).toEqual([
      1,
      2,
      'c1',
    ]);
    expect(events[0]).toEqual(progress(1));
    expect(events[2]?.result?.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  it('[MCP-4] forwards it as it comes, not at the end', async () => {
    const { name, server } = await connect('legacy');
    let stream: ReturnType<typeof createStream> | undefined;
    server.call = post => {
      stream = createStream(post);
      stream.write(progress(1));
      return stream.response;
    };
    const { message, headers } = call(name, era);
    const reader = (await portico.post(message, { headers })).body?.getReader();
    expect(await readNext(reader)).toEqual([progress(1)]);
    stream?.write(responseTo(server.of('tools/call')[0] ?? ({} as SeenPost)));
    expect((await readNext(reader))[0]).toMatchObject({ id: 'c1' });
    expect(await readNext(reader)).toEqual([]);
  });

  it('[MCP-4] is answered with JSON if the client accepts no stream', async () => {
    const { name, server } = await connect('legacy');
    server.call = post => streamOf(progress(1), responseTo(post));
    const { message, headers } = call(name, era);
    const response = await portico.post(message, {
      headers: { ...headers, accept: 'application/json' },
    });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      id: 'c1',
      result: { content: [{ text: 'done' }] },
    });
  });

  it.each<[string, (stream: ReturnType<typeof createStream>) => void]>([
    ['upstream_truncated', stream => stream.breakOff()],
    ['upstream_no_response', stream => stream.close()],
  ])('[MCP-12] ends with %s if the stream ends without its response', async (code, end) => {
    const { name, server } = await connect('legacy');
    let stream: ReturnType<typeof createStream> | undefined;
    server.call = post => {
      stream = createStream(post);
      stream.write(progress(1));
      return stream.response;
    };
    const { message, headers } = call(name, era);
    const response = await portico.post(message, { headers });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    await readNext(reader);
    if (stream) end(stream);
    const [last] = await readNext(reader);
    expect(last).toMatchObject({
      id: 'c1',
      result: { isError: true, _meta: { 'portico/reason': code } },
    });
    expect(last?.result?.content?.[0]?.text).toContain(name);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('[MCP-9] to an unknown tool gets the code of the era', async () => {
    const { name, server } = await connect('legacy');
    for (const [tool, code, message] of [
      [`${name}.nothing`, era === 'legacy' ? -32601 : -32602, `Tool not found: ${name}.nothing`],
      ['nobody.echo', era === 'legacy' ? -32601 : -32602, 'Tool not found: nobody.echo'],
      ['echo', -32602, 'Tool name must be prefixed with server key: echo'],
    ] as const) {
      const asked = ask(era, 'tools/call', { name: tool });
      const response = await portico.post(asked.message, { headers: asked.headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: 1, error: { code, message } });
    }
    expect(server.of('tools/call')).toEqual([]);
  });

  it('[MCP-12] to a hanging server times out and delays no other', async () => {
    const { name, server } = await connect('legacy');
    const hasty = createPortico({ PORTICO_CALL_TIMEOUT_MS: '2000' });
    let other: Response | undefined;
    server.call = async post => {
      if (post.params['arguments'] !== undefined) return resultOf(post, { content: [] });
      const quick = call(name, era, { arguments: {} });
      other = await hasty.post(quick.message, { headers: quick.headers });
      return new Promise<Response>(() => {});
    };
    const { message, headers } = call(name, era);
    const answer = await (await hasty.post(message, { headers })).json<RpcAnswer>();
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'portico/reason': 'upstream_timeout' },
    });
    expect(await other?.json()).toMatchObject({ result: { content: [] } });
    await hasty.settle();
    const [hung] = server.of('tools/call');
    expect(hung?.signal.aborted).toBe(true);
    expect(server.of('notifications/cancelled').map(({ params }) => params)).toEqual([
      { requestId: hung?.id },
    ]);
  });

  it('[SEC-4] with a larger response than allowed fails with that reason', async () => {
    const { name, server } = await connect('legacy');
    const small = createPortico({ PORTICO_MAX_ANSWER_BYTES: '2048' });
    const { message, headers } = call(name, era);
    for (const declared of [true, false]) {
      server.call = post => {
        const text = JSON.stringify({
          jsonrpc: '2.0',
          id: post.id,
          result: { content: [], pad: 'x'.repeat(4_000) },
        });
        const body = declared ? text : new Blob([text]).stream();
        const length = declared ? { 'content-length': String(text.length) } : {};
        return new Response(body, { headers: { 'content-type': 'application/json', ...length } });
      };
      const answer = await (await small.post(message, { headers })).json<RpcAnswer>();
      expect(answer.result?._meta?.['portico/reason']).toBe('upstream_too_large');
    }
  });
});
