/** Requests in the form of an upstream of either era. */
import { describe, expect, it } from 'vitest';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import { IMPLEMENTATION, META, MODERN_VERSION } from '../../../src/shared/protocol.ts';
import type { Address } from '../../../src/upstream/endpoint.ts';
import {
  paramsFor,
  requestHeaders,
  requestText,
} from '../../../src/upstream/protocol/wire-request.ts';

const envelope = {
  [META.protocolVersion]: MODERN_VERSION,
  [META.clientInfo]: { name: 'client', version: '1' },
  [META.clientCapabilities]: { elicitation: {} },
};
const paramsOf = (value: unknown) => rawMembers(JSON.stringify(value));
const metaOf = (params: Map<string, string>) =>
  JSON.parse(params.get('_meta') ?? 'null') as unknown;

const endpoint: Address = {
  serverId: 's',
  name: 'alpha',
  url: 'https://a.example.com/mcp',
  headers: { authorization: 'Bearer x' },
  hidden: [],
  credentialKey: 'k',
};

describe('params for a legacy upstream', () => {
  it('[MCP-5] leaves params without an envelope unchanged', () => {
    const params = rawMembers(
      '{"name":"a","arguments":{"n":1.0},"_meta":{"progressToken":7,"x":1e400}}',
    );
    expect(paramsFor('legacy', params)).toBe(params);
  });

  it('[MCP-5] removes the envelope and nothing else', () => {
    const meta = {
      ...envelope,
      [META.logLevel]: 'debug',
      progressToken: 7,
      'vendor/key': [1],
      traceparent: '00-a-b-01',
    };
    const params = paramsFor('legacy', paramsOf({ name: 'a', _meta: meta }));
    expect(metaOf(params)).toEqual({
      progressToken: 7,
      'vendor/key': [1],
      traceparent: '00-a-b-01',
    });
    expect(params.get('name')).toBe('"a"');
  });

  it('[MCP-5] removes an emptied _meta', () => {
    expect(paramsFor('legacy', paramsOf({ name: 'a', _meta: envelope })).has('_meta')).toBe(false);
  });

  it('[MCP-5] does not change the given params', () => {
    const params = paramsOf({ _meta: envelope });
    paramsFor('legacy', params);
    expect(metaOf(params)).toEqual(envelope);
  });

  it("[MCP-5] is not misled by the envelope's names in another value", () => {
    const params = paramsFor('legacy', paramsOf({ _meta: { note: META.protocolVersion } }));
    expect(metaOf(params)).toEqual({ note: META.protocolVersion });
  });

  it('[MCP-7] keeps the digits of what stays in _meta', () => {
    const text = `{"_meta":{"${META.protocolVersion}":"${MODERN_VERSION}","n":1.00,"big":12345678901234567890}}`;
    expect(paramsFor('legacy', rawMembers(text)).get('_meta')).toBe(
      '{"n":1.00,"big":12345678901234567890}',
    );
  });

  it('[MCP-5] removes an envelope with escaped keys', () => {
    const text = `{"_meta":{"io.modelcontextprotocol\\/protocolVersion":"${MODERN_VERSION}","\\u0069o.modelcontextprotocol/clientInfo":{}}}`;
    expect(paramsFor('legacy', rawMembers(text)).has('_meta')).toBe(false);
  });
});

describe('params for a modern upstream', () => {
  it('[MCP-5] leaves an envelope of the client unchanged', () => {
    const params = paramsOf({ name: 'a', _meta: envelope });
    expect(paramsFor('modern', params)).toBe(params);
  });

  it('[MCP-5] adds an envelope without capabilities', () => {
    const params = paramsFor('modern', paramsOf({ name: 'a', _meta: { progressToken: 1 } }));
    expect(metaOf(params)).toEqual({
      progressToken: 1,
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: IMPLEMENTATION,
      [META.clientCapabilities]: {},
    });
  });

  it('[MCP-5] adds a _meta if there is none', () => {
    expect(metaOf(paramsFor('modern', new Map()))).toHaveProperty(
      [META.protocolVersion],
      MODERN_VERSION,
    );
  });
});

describe('requestText', () => {
  it('[MCP-7] [AG-US4-AC4] carries arguments byte for byte', () => {
    const text =
      '{ "n" : 1.0, "big":12345678901234567890,\n"s":"\\u00e9\\/","__proto__":{"a":-0} }';
    const request = {
      method: 'tools/call',
      params: new Map([
        ['name', '"a"'],
        ['arguments', text],
      ]),
    };
    expect(requestText(request, 5, 'legacy')).toBe(
      `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":${text}}}`,
    );
  });

  it('[MCP-5] leaves out params if a legacy request has none', () => {
    expect(requestText({ method: 'ping', params: new Map() }, 'x', 'legacy')).toBe(
      '{"jsonrpc":"2.0","id":"x","method":"ping"}',
    );
  });
});

describe('requestHeaders', () => {
  it('[UP-1] a legacy request names its version and session', () => {
    const headers = requestHeaders(
      endpoint,
      { era: 'legacy', protocolVersion: '2025-06-18', sessionId: 'u1' },
      'tools/call',
      'a',
    );
    expect(headers).toEqual({
      authorization: 'Bearer x',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      'mcp-session-id': 'u1',
    });
  });

  it('[UP-1] a legacy request without a session names none', () => {
    for (const sessionId of [undefined, '']) {
      const headers = requestHeaders(
        endpoint,
        { era: 'legacy', protocolVersion: '2025-11-25', sessionId },
        'x',
      );
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
  });

  it('[UP-1] a request before the handshake names no version', () => {
    const opening = { era: 'legacy', protocolVersion: '' } as const;
    expect(requestHeaders(endpoint, opening, 'initialize')).not.toHaveProperty(
      'mcp-protocol-version',
    );
  });

  it('[UP-1] a modern request mirrors method and name and has no session', () => {
    const protocol = {
      era: 'modern',
      protocolVersion: MODERN_VERSION,
      sessionId: 'never',
    } as const;
    expect(requestHeaders(endpoint, protocol, 'tools/call', 'n\u00e9')).toEqual({
      authorization: 'Bearer x',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?bsOp?=',
    });
    expect(requestHeaders(endpoint, protocol, 'tools/list')).not.toHaveProperty('mcp-name');
  });

  it('[SEC-2] no configured header replaces one of the protocol', () => {
    const configured = {
      'content-type': 'text/plain',
      accept: 'text/html',
      'mcp-protocol-version': 'x',
      'mcp-method': 'x',
      'mcp-name': 'x',
      'mcp-session-id': 'x',
    };
    const spoofed = { ...endpoint, headers: configured };
    const modern = requestHeaders(
      spoofed,
      { era: 'modern', protocolVersion: MODERN_VERSION },
      'tools/call',
      'a',
    );
    expect(modern).toMatchObject({
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': 'a',
    });
    const legacy = requestHeaders(
      spoofed,
      { era: 'legacy', protocolVersion: '2025-11-25', sessionId: 'u1' },
      'x',
    );
    expect(legacy).toMatchObject({ 'mcp-session-id': 'u1', 'content-type': 'application/json' });
  });
});
