/** What an upstream's message or status means for the waiting request. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { parseMessage, type UpstreamMessage } from '../../../src/upstream/protocol/message.ts';
import { statusError } from '../../../src/upstream/protocol/status-error.ts';

afterEach(() => void vi.useRealTimers());

/** The code of the error that a function throws. */
function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return error instanceof PorticoError ? error.code : String(error);
  }
  return undefined;
}

describe('parseMessage', () => {
  it('[MCP-7] keeps the text of a result', () => {
    const result = '{ "content" : [ ], "n":1.0, "big":12345678901234567890,"s":"\\u00e9" }';
    expect(parseMessage(` {"jsonrpc":"2.0", "id":7,"result": ${result} }\n`, 7)).toMatchObject({
      kind: 'response',
      result,
    });
  });

  it('[MCP-7] keeps code, message and data of an error', () => {
    const error = '{"code":-32042,"message":"m\\u0041","data":{"n":1.0}}';
    expect(parseMessage(`{"jsonrpc":"2.0","id":"a","error":${error}}`, 'a')).toMatchObject({
      kind: 'response',
      error,
    });
  });

  it.each<[string, string, UpstreamMessage['kind']]>([
    [
      'a notification',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}',
      'notification',
    ],
    ['a request', '{"jsonrpc":"2.0","id":7,"method":"ping"}', 'request'],
    ['a response to another id', '{"jsonrpc":"2.0","id":8,"result":{}}', 'foreign'],
    ['a response to another id as text', '{"jsonrpc":"2.0","id":"8","result":{}}', 'foreign'],
    ['a response to no whole number', '{"jsonrpc":"2.0","id":"7.0","result":{}}', 'foreign'],
    ['a response to the id as text', '{"jsonrpc":"2.0","id":"7","result":{}}', 'response'],
    [
      'a request under a fractional id',
      '{"jsonrpc":"2.0","id":1.5,"method":"roots/list"}',
      'foreign',
    ],
    ['a request under the id null', '{"jsonrpc":"2.0","id":null,"method":"roots/list"}', 'foreign'],
    [
      'an error without an id',
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
      'foreign',
    ],
  ])('[MCP-5] recognizes %s', (_what, text, kind) => {
    expect(parseMessage(text, 7).kind).toBe(kind);
  });

  it.each([
    ['no JSON', '{', 'upstream_bad_json'],
    ['an empty text', '', 'upstream_bad_json'],
    ['HTML', '<html>', 'upstream_bad_json'],
    ['a number', '1', 'upstream_bad_message'],
    ['null', 'null', 'upstream_bad_message'],
    ['a batch', '[{"jsonrpc":"2.0","id":7,"result":{}}]', 'upstream_bad_message'],
    ['another version', '{"jsonrpc":"1.0","id":7,"result":{}}', 'upstream_bad_message'],
    ['no version', '{"id":7,"result":{}}', 'upstream_bad_message'],
    ['neither result nor error', '{"jsonrpc":"2.0","id":7}', 'upstream_bad_message'],
    [
      'both result and error',
      '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m"}}',
      'upstream_bad_message',
    ],
    ['a result that is no object', '{"jsonrpc":"2.0","id":7,"result":[]}', 'upstream_bad_message'],
    ['a null result', '{"jsonrpc":"2.0","id":7,"result":null}', 'upstream_bad_message'],
    [
      'an error without a code',
      '{"jsonrpc":"2.0","id":7,"error":{"message":"m"}}',
      'upstream_bad_message',
    ],
    [
      'an error with a fractional code',
      '{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"m"}}',
      'upstream_bad_message',
    ],
    ['an error as text', '{"jsonrpc":"2.0","id":7,"error":"m"}', 'upstream_bad_message'],
  ])('[MCP-12] refuses %s', (_what, text, code) => {
    expect(codeOf(() => parseMessage(text, 7))).toBe(code);
  });

  it('[MCP-7] takes the last of two results, as JSON.parse does', () => {
    const message = parseMessage('{"jsonrpc":"2.0","id":7,"result":{"a":1},"result":{"a":2}}', 7);
    expect(message).toMatchObject({ result: '{"a":2}', parsed: { a: 2 } });
  });
});

describe('statusError', () => {
  const rpc = (code: number, id: unknown = 7) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'm' } });
  const of = (status: number, body = '', inSession = false, headers = {}) =>
    statusError(status, new Headers(headers), body, { id: 7, inSession });

  it.each([
    [202, 'upstream_no_response'],
    [204, 'upstream_no_response'],
    [301, 'upstream_redirect'],
    [302, 'upstream_redirect'],
    [307, 'upstream_redirect'],
    [308, 'upstream_redirect'],
    [400, 'upstream_4xx'],
    [401, 'upstream_auth'],
    [403, 'upstream_scope'],
    [404, 'upstream_4xx'],
    [408, 'upstream_rate_limited'],
    [418, 'upstream_4xx'],
    [425, 'upstream_rate_limited'],
    [429, 'upstream_rate_limited'],
    [500, 'upstream_5xx'],
    [503, 'upstream_5xx'],
    [599, 'upstream_5xx'],
  ])('[MCP-12] %i is %s', (status, code) => {
    expect(of(status)).toMatchObject({ code });
  });

  it('[MCP-7] passes on a JSON-RPC error to this request, whatever the status', () => {
    for (const status of [400, 404, 422, 500, 503]) {
      expect(of(status, rpc(-32602))).toMatchObject({ kind: 'response', parsed: { code: -32602 } });
    }
  });

  it('[MCP-12] passes on no error to another request, and no result', () => {
    expect(of(400, rpc(-32602, 8))).toMatchObject({ code: 'upstream_4xx' });
    expect(of(400, rpc(-32602, null))).toMatchObject({ code: 'upstream_4xx' });
    expect(of(400, '{"jsonrpc":"2.0","id":7,"result":{}}')).toMatchObject({ code: 'upstream_4xx' });
    expect(of(400, '{')).toMatchObject({ code: 'upstream_4xx' });
  });

  it('[MCP-12] repeats what an error says that names no request, without credentials', () => {
    const error = { code: -32000, message: 'Bad Request: no sk-0123456789' };
    const sent = { id: 7, inSession: false, endpoint: { hidden: ['sk-0123456789'] } };
    for (const id of [undefined, null, 8]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, error });
      const said = id === 8 ? '' : ' (-32000: Bad Request: no [redacted])';
      const message = `The server answered 400${said}`;
      expect(statusError(400, new Headers(), body, sent)).toMatchObject({ message });
    }
    expect(of(503, '{"error":{"code":"x"}}')).toMatchObject({ message: 'The server answered 503' });
  });

  it.each([
    [401, '', ['secret'], 'upstream_auth', 'The server refused the stored credential'],
    [401, '', [], 'upstream_auth', 'The server wants a credential, and none is stored for it'],
    [403, '', ['secret'], 'upstream_scope', 'The server forbids the request (403)'],
    [403, '', [], 'upstream_scope', 'The server forbids the request (403)'],
    [
      403,
      'Bearer error="insufficient_scope", scope="write"',
      ['secret'],
      'upstream_scope',
      'The stored credential lacks a permission',
    ],
    [
      403,
      'Bearer error="insufficient_scope"',
      [],
      'upstream_scope',
      'The server forbids the request (403)',
    ],
  ])(
    '[UP-4] reports for %i, challenged by %j, what happened to the credential (%j)',
    (status, challenge, hidden, code, message) => {
      const headers = new Headers(challenge === '' ? {} : { 'www-authenticate': challenge });
      const request = { id: 7, inSession: false, endpoint: { hidden } };
      expect(statusError(status, headers, '', request)).toMatchObject({ code, message });
    },
  );

  it('[SEC-2] passes on nothing of the body of a 401 or 403', () => {
    expect(of(401, rpc(-32001))).toMatchObject({ code: 'upstream_auth' });
    expect(of(403, rpc(-32001))).toMatchObject({ code: 'upstream_scope' });
  });

  it('[UP-2] a session is forgotten on 404, and on 400 with -32000', () => {
    expect(of(404, '', true)).toBe('session_forgotten');
    expect(of(404, rpc(-32001), true)).toBe('session_forgotten');
    expect(of(404, rpc(-32001, null), true)).toBe('session_forgotten');
    expect(of(400, rpc(-32000, null), true)).toBe('session_forgotten');
    expect(of(400, rpc(-32000), true)).toBe('session_forgotten');
  });

  it('[UP-2] nothing else means a forgotten session', () => {
    expect(of(404, rpc(-32601))).toMatchObject({ kind: 'response' });
    expect(of(400, rpc(-32000))).toMatchObject({ kind: 'response' });
    expect(of(400, rpc(-32602), true)).toMatchObject({ kind: 'response' });
    expect(of(400, 'null', true)).toMatchObject({ code: 'upstream_4xx' });
    expect(of(500, rpc(-32000), true)).toMatchObject({ kind: 'response' });
  });

  it.each([
    ['3', 3],
    ['0', 0],
    ['86400', 86_400],
    ['86401', 86_400],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 90],
  ])('[MCP-12] reads Retry-After: %s', (value, seconds) => {
    vi.useFakeTimers({ now: Date.parse('2026-10-21T07:26:30Z') });
    const error = of(429, '', false, { 'retry-after': value });
    expect(error).toBeInstanceOf(PorticoError);
    expect((error as PorticoError).extras.retryAfterSeconds).toBe(seconds);
  });

  it('[MCP-12] reports no retry time without Retry-After', () => {
    expect((of(503) as PorticoError).extras).toEqual({});
  });
});
