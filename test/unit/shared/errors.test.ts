/** The error table and its three projections. */
import { describe, expect, it } from 'vitest';
import { PorticoError, toPorticoError } from '../../../src/shared/errors/portico-error.ts';
import { ERROR_CODES, errorEntry } from '../../../src/shared/errors/table.ts';
import { toRpcErrorResponse, toRpcErrorText } from '../../../src/shared/errors/to-json-rpc.ts';
import { withChallenge } from '../../../src/oauth/challenge.ts';
import { toProblem, toProblemResponse } from '../../../src/shared/errors/to-problem.ts';
import { REASON_META_KEY, toToolResultText } from '../../../src/shared/errors/to-tool-result.ts';

/** Codes of JSON-RPC and MCP that the table may use; all others are Portico's own. */
const SPECIFIED = [-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022];
const entries = ERROR_CODES.map(code => ({ code, ...errorEntry(code) }));

describe('the table', () => {
  it.each(entries)('[REG-8] $code is complete', ({ code, status, rpc, legacyRpc, title }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(title).toMatch(/^[A-Z][^\n.]*$/);
    for (const rpcCode of legacyRpc === undefined ? [rpc] : [rpc, legacyRpc]) {
      expect([String(rpcCode), rpcCode > 0 || SPECIFIED.includes(rpcCode)]).toEqual([
        String(rpcCode),
        true,
      ]);
    }
  });

  it('[REG-8] gives each of our own codes its own number', () => {
    const own = entries.map(({ rpc }) => rpc).filter(rpc => rpc > 0);
    expect(new Set(own).size).toBe(own.length);
  });

  it('[MCP-12] shows every fault of an upstream as a tool result, and no fault of the caller', () => {
    const faults = entries.filter(({ code }) => code.startsWith('upstream_'));
    expect(faults.filter(({ toolResult }) => !toolResult)).toEqual([]);
    const own = entries.filter(({ status }) => status < 403);
    expect(own.filter(({ toolResult }) => toolResult)).toEqual([]);
    for (const code of ['forbidden', 'tool_not_found', 'internal'] as const) {
      expect([code, errorEntry(code).toolResult]).toEqual([code, undefined]);
    }
  });

  it.each([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['session_not_found', 404],
    ['tool_not_found', 404],
    ['conflict', 409],
    ['payload_too_large', 413],
    ['unsupported_media_type', 415],
    ['validation_failed', 422],
    ['server_disconnected', 503],
    ['upstream_timeout', 504],
  ] as const)('[REG-8] %s has status %i', (code, status) => {
    expect(errorEntry(code).status).toBe(status);
  });
});

describe('toPorticoError', () => {
  it('[SEC-2] keeps our own errors and hides the text of all others', () => {
    const ours = new PorticoError('conflict', 'A server named a exists already');
    expect(toPorticoError(ours)).toBe(ours);
    for (const thrown of [
      new Error('secret https://internal/'),
      'secret',
      undefined,
      null,
      { message: 'secret' },
    ]) {
      const error = toPorticoError(thrown);
      expect([error.code, error.message]).toEqual(['internal', 'Internal error']);
    }
  });
});

describe('to JSON-RPC', () => {
  it('[MCP-9] an unknown tool is -32601 in the legacy era and -32602 in the modern one', () => {
    const error = new PorticoError('tool_not_found', 'Tool not found: a.b');
    expect(JSON.parse(toRpcErrorText(error, 1, 'legacy'))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32601, message: 'Tool not found: a.b' },
    });
    expect(JSON.parse(toRpcErrorText(error, 'x', 'modern'))).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32602, message: 'Tool not found: a.b' },
    });
  });

  it('[MCP-9] a name without a server part is -32602 in both eras', () => {
    const error = new PorticoError('tool_name_unprefixed');
    for (const era of ['legacy', 'modern'] as const) {
      expect(JSON.parse(toRpcErrorText(error, 1, era))).toHaveProperty('error.code', -32602);
    }
  });

  it('[MCP-1] an id that could not be read is null in the legacy era and absent in the modern one', () => {
    const error = new PorticoError('parse_error');
    expect(JSON.parse(toRpcErrorText(error, null, 'legacy'))).toHaveProperty('id', null);
    expect(JSON.parse(toRpcErrorText(error, null, 'modern'))).not.toHaveProperty('id');
  });

  it('includes data if there is some', () => {
    const error = new PorticoError('unsupported_protocol_version', undefined, {
      data: { requested: 'x' },
    });
    expect(JSON.parse(toRpcErrorText(error, 1, 'modern'))).toHaveProperty('error.data', {
      requested: 'x',
    });
  });

  it.each(ERROR_CODES)('[REG-8] %s becomes a response', async code => {
    const response = toRpcErrorResponse(new PorticoError(code), 7, 'modern');
    expect(response.status).toBe(errorEntry(code).status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: 7 });
  });
});

describe('to problem', () => {
  it.each(ERROR_CODES)('[REG-8] %s becomes a problem', async code => {
    const response = toProblemResponse(new PorticoError(code, 'why'));
    expect(response.status).toBe(errorEntry(code).status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: errorEntry(code).title,
      status: errorEntry(code).status,
      code,
      detail: 'why',
    });
  });

  it('[REG-1] names every invalid field', () => {
    const fields = [
      { field: 'name', message: 'Required' },
      { field: 'transport_type', message: 'Required' },
    ];
    expect(
      toProblem(new PorticoError('validation_failed', 'name: Required', { fields })).errors,
    ).toEqual(fields);
  });

  it('[SEC-9] is short, however many fields are invalid and however long their names are', () => {
    const long = `${'😀'.repeat(499)}a😀${'b'.repeat(100_000)}`;
    const fields = Array.from({ length: 100_000 }, () => ({ field: long, message: long }));
    const { detail, errors } = toProblem(new PorticoError('validation_failed', long, { fields }));
    const cut = `${'😀'.repeat(499)}a…`;
    expect(detail).toBe(cut);
    expect(errors).toHaveLength(101);
    expect(errors?.[99]).toEqual({ field: cut, message: cut });
    expect(errors?.[100]).toEqual({ field: '(others)', message: '99900 more' });
  });

  it('[ACC-1] includes a challenge only if a credential is missing', () => {
    const url = new URL('https://portico.example.com/mcp');
    for (const code of ERROR_CODES) {
      const refused = toProblemResponse(new PorticoError(code));
      const answer = withChallenge(new Request(url), url, refused);
      const challenge = answer.headers.get('www-authenticate');
      expect(challenge?.startsWith('Bearer ') ?? false).toBe(code === 'unauthorized');
    }
  });

  it('says when a retry may help', () => {
    const error = new PorticoError('upstream_rate_limited', undefined, { retryAfterSeconds: 3 });
    expect(toProblemResponse(error).headers.get('retry-after')).toBe('3');
  });
});

describe('to tool result', () => {
  it.each(ERROR_CODES.filter(code => errorEntry(code).toolResult))(
    '[MCP-12] %s names the server and the reason',
    code => {
      const result = JSON.parse(toToolResultText(new PorticoError(code), 'alpha')) as {
        content: [{ type: string; text: string }];
      };
      expect(result).toMatchObject({ isError: true, _meta: { [REASON_META_KEY]: code } });
      expect(result.content).toHaveLength(1);
      const { text } = result.content[0];
      expect(text).toContain('alpha');
      expect(text).toContain(code);
      expect(text).not.toContain('\n');
    },
  );

  it('says when a retry may help', () => {
    const error = new PorticoError('upstream_rate_limited', undefined, { retryAfterSeconds: 0 });
    expect(JSON.parse(toToolResultText(error, 'a'))).toHaveProperty(
      ['_meta', 'portico/retryAfter'],
      0,
    );
  });
});
