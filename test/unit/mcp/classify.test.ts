/** The classifier's decision on era and envelope: rules of MCP 2026-07-28, one table for each. */
import { describe, expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { classify, type ProtocolHeaders } from '../../../src/mcp/classify.ts';
import { META, MODERN_VERSION } from '../../../src/shared/protocol.ts';

const NONE: ProtocolHeaders = { version: null, method: null, name: null };
const envelope = { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} };
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'a', _meta: envelope },
};
const callHeaders: ProtocolHeaders = { version: MODERN_VERSION, method: 'tools/call', name: 'a' };

/** "era kind", or the code of the refusal. */
function verdict(body: unknown, headers: Partial<ProtocolHeaders> = {}): string {
  try {
    const { era, kind } = classify(body, { ...NONE, ...headers });
    return `${era} ${kind}`;
  } catch (error) {
    if (error instanceof PorticoError) return error.code;
    throw error;
  }
}

const withMeta = (meta: unknown) => ({ ...call, params: { name: 'a', _meta: meta } });

describe('the shape of a message', () => {
  it.each<[unknown, string]>([
    [null, 'invalid_request'],
    [1, 'invalid_request'],
    ['x', 'invalid_request'],
    [{}, 'invalid_request'],
    [{ jsonrpc: '1.0', id: 1, method: 'a' }, 'invalid_request'],
    [{ id: 1, method: 'a' }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1 }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1, method: 'a', params: [] }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1, method: 'a', params: null }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: null, method: 'a' }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1.5, method: 'a' }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 1e20, method: 'a' }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: {}, method: 'a' }, 'invalid_request'],
    [{ jsonrpc: '2.0', id: 0, method: 'a' }, 'legacy request'],
    [{ jsonrpc: '2.0', id: '', method: 'a' }, 'legacy request'],
    [{ jsonrpc: '2.0', method: 'a' }, 'legacy notification'],
    [{ jsonrpc: '2.0', id: 1, result: {} }, 'legacy response'],
    [{ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm' } }, 'legacy response'],
  ])('[MCP-1] %j: %s', (body, expected) => {
    expect(verdict(body)).toBe(expected);
  });
});

describe('the era of a request', () => {
  it.each<[string, unknown, Partial<ProtocolHeaders>, string]>([
    ['a modern call', call, callHeaders, 'modern request'],
    ['a legacy call', withMeta(undefined), {}, 'legacy request'],
    [
      'a legacy call with its version',
      withMeta(undefined),
      { version: '2025-11-25' },
      'legacy request',
    ],
    [
      'a legacy call whose header names another method',
      withMeta(undefined),
      { method: 'x', name: 'x' },
      'legacy request',
    ],
    ['a modern header without an envelope', withMeta(undefined), callHeaders, 'invalid_params'],
    [
      'a modern header, an envelope without its version',
      withMeta({ [META.clientCapabilities]: {} }),
      callHeaders,
      'invalid_params',
    ],
    ['no version header', call, { method: 'tools/call', name: 'a' }, 'header_mismatch'],
    ['a legacy version header', call, { ...callHeaders, version: '2025-11-25' }, 'header_mismatch'],
    [
      'a later version',
      withMeta({ ...envelope, [META.protocolVersion]: '2027-01-01' }),
      { ...callHeaders, version: '2027-01-01' },
      'unsupported_protocol_version',
    ],
    [
      'an envelope that names a legacy version',
      withMeta({ ...envelope, [META.protocolVersion]: '2025-11-25' }),
      { ...callHeaders, version: '2025-11-25' },
      'unsupported_protocol_version',
    ],
    [
      'a version that is no text',
      withMeta({ ...envelope, [META.protocolVersion]: 1 }),
      callHeaders,
      'invalid_params',
    ],
    [
      'no capabilities',
      withMeta({ [META.protocolVersion]: MODERN_VERSION }),
      callHeaders,
      'invalid_params',
    ],
    [
      'capabilities that are no object',
      withMeta({ ...envelope, [META.clientCapabilities]: [] }),
      callHeaders,
      'invalid_params',
    ],
    [
      'client info that is no object',
      withMeta({ ...envelope, [META.clientInfo]: 'x' }),
      callHeaders,
      'invalid_params',
    ],
    ['no method header', call, { ...callHeaders, method: null }, 'header_mismatch'],
    ['another method', call, { ...callHeaders, method: 'tools/list' }, 'header_mismatch'],
    [
      'the method in another case',
      call,
      { ...callHeaders, method: 'Tools/Call' },
      'header_mismatch',
    ],
    ['no name header', call, { ...callHeaders, name: null }, 'header_mismatch'],
    ['another name', call, { ...callHeaders, name: 'b' }, 'header_mismatch'],
    ['the name in Base64', call, { ...callHeaders, name: '=?base64?YQ==?=' }, 'modern request'],
    ['a name in broken Base64', call, { ...callHeaders, name: '=?base64?*?=' }, 'header_mismatch'],
  ])('[MCP-1] %s', (_what, body, headers, expected) => {
    expect(verdict(body, headers)).toBe(expected);
  });

  it('[MCP-1] the name header must repeat a URI or a prompt if the method has one, and is ignored for other methods', () => {
    const of = (method: string, params: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: envelope },
    });
    const headersOf = (method: string, name: string | null) => ({
      version: MODERN_VERSION,
      method,
      name,
    });
    expect(verdict(of('resources/read', { uri: 'u:1' }), headersOf('resources/read', 'u:1'))).toBe(
      'modern request',
    );
    expect(verdict(of('resources/read', { uri: 'u:1' }), headersOf('resources/read', 'u:2'))).toBe(
      'header_mismatch',
    );
    expect(verdict(of('prompts/get', { name: 'p' }), headersOf('prompts/get', null))).toBe(
      'header_mismatch',
    );
    expect(verdict(of('tools/list', {}), headersOf('tools/list', null))).toBe('modern request');
    expect(verdict(of('constructor', { name: 'p' }), headersOf('constructor', null))).toBe(
      'modern request',
    );
  });

  it('[MCP-1] an unsupported version is answered with the supported ones', () => {
    const body = withMeta({ ...envelope, [META.protocolVersion]: '2027-01-01' });
    const run = () => classify(body, { ...callHeaders, version: '2027-01-01' });
    expect(run).toThrow(
      expect.objectContaining({
        extras: {
          data: {
            requested: '2027-01-01',
            supported: [MODERN_VERSION],
          },
        },
      }),
    );
  });
});

describe('initialize', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25' },
  };

  it('[MCP-1] belongs to the legacy era, whatever version it names', () => {
    expect(verdict(initialize)).toBe('legacy request');
    expect(verdict(initialize, { version: '2025-06-18' })).toBe('legacy request');
    expect(verdict({ ...initialize, params: { protocolVersion: MODERN_VERSION } })).toBe(
      'legacy request',
    );
    expect(verdict({ ...initialize, params: undefined })).toBe('legacy request');
  });

  it('[MCP-1] under a modern header is refused', () => {
    expect(verdict(initialize, { version: MODERN_VERSION })).toBe('header_mismatch');
  });

  it('[MCP-1] with a modern envelope is a modern request like any other', () => {
    const modern = { ...initialize, params: { _meta: envelope } };
    expect(verdict(modern, { version: MODERN_VERSION, method: 'initialize' })).toBe(
      'modern request',
    );
  });
});

describe('notifications', () => {
  const notification = {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  };

  it.each<[string, unknown, Partial<ProtocolHeaders>, string]>([
    ['without a header', notification, {}, 'legacy notification'],
    [
      'under a legacy header',
      notification,
      { version: '2025-11-25', method: 'x' },
      'legacy notification',
    ],
    ['under a modern header', notification, { version: MODERN_VERSION }, 'modern notification'],
    [
      'under a modern header for another method',
      notification,
      { version: MODERN_VERSION, method: 'x' },
      'header_mismatch',
    ],
    [
      'with an envelope',
      { ...notification, params: { _meta: envelope } },
      {},
      'modern notification',
    ],
    [
      'with an envelope under a legacy header',
      { ...notification, params: { _meta: envelope } },
      { version: '2025-11-25' },
      'header_mismatch',
    ],
    [
      'with a broken envelope',
      { ...notification, params: { _meta: { [META.protocolVersion]: 1 } } },
      {},
      'invalid_params',
    ],
  ])('[MCP-1] %s', (_what, body, headers, expected) => {
    expect(verdict(body, headers)).toBe(expected);
  });
});

describe('batches', () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'ping' };

  it.each<[string, unknown[], string]>([
    [
      'of requests, notifications and responses',
      [request, { jsonrpc: '2.0', method: 'n' }, { jsonrpc: '2.0', id: 2, result: {} }],
      'legacy batch',
    ],
    ['of one', [request], 'legacy batch'],
    ['of none', [], 'invalid_request'],
    ['with a modern request', [request, call], 'invalid_request'],
    ['with something else', [request, 1], 'invalid_request'],
    ['with a broken request', [request, { ...request, id: null }], 'invalid_request'],
    ['with a batch', [request, [request]], 'invalid_request'],
  ])('[MCP-1] %s', (_what, body, expected) => {
    expect(verdict(body)).toBe(expected);
  });
});
