/** The error of 2025-11-25 that sends people to links, on its way to a modern client. */
import { expect, it } from 'vitest';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import { createPortico, modern, registerConnected, type RpcAnswer } from '../support/portico.ts';

const portico = createPortico();
const URL_ONLY = { elicitation: { url: {} } };

it.each([true, false])(
  '[MCP-4] [MCP-5] becomes a request for input (the server keeps sessions: %s)',
  async sessionful => {
    const name = `links-${sessionful}`;
    const server = new FakeServer({ sessionful });
    let isOpened = false;
    server.call = post => {
      if (isOpened) return resultOf(post, { content: [{ type: 'text', text: 'done' }] });
      const link = {
        mode: 'url',
        elicitationId: 'e',
        url: 'https://a.example.com/',
        message: 'Go',
      };
      const error = { code: -32042, message: 'Needs a page', data: { elicitations: [link] } };
      return Response.json({ jsonrpc: '2.0', id: post.id, error });
    };
    serve({ [name]: server });
    await registerConnected(portico, name);
    const call = async (capabilities: object, more: object = {}) => {
      const params = { name: `${name}.echo`, arguments: {} };
      const { message, headers } = modern('tools/call', params);
      Object.assign(message.params, more);
      Object.assign(message.params._meta, {
        'io.modelcontextprotocol/clientCapabilities': capabilities,
      });
      const response = await portico.post(message, { headers });
      const text = await response.text();
      const last = text.startsWith('{') ? text : (text.trim().split('data: ').at(-1) ?? '');
      return JSON.parse(last) as RpcAnswer;
    };
    const { result } = await call(URL_ONLY);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        open_link_1: {
          method: 'elicitation/create',
          params: { mode: 'url', url: 'https://a.example.com/', message: 'Go' },
        },
      },
    });
    const requestState = result?.['requestState'];
    const answered = (action: string) => ({
      requestState,
      inputResponses: { open_link_1: { action } },
    });
    const declined = await call(URL_ONLY, answered('decline'));
    expect(declined.result).toMatchObject({ isError: true });
    expect(declined.result?.content?.[0]?.text).toContain(`${name}: `);
    expect(server.of('tools/call')).toHaveLength(1);
    isOpened = true;
    const done = await call(URL_ONLY, answered('accept'));
    expect(done.result?.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(server.of('tools/call')[1]?.text).not.toContain('inputResponses');
    isOpened = false;
    const { error } = await call({});
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: URL_ONLY } });
  },
);
