/** The head of a request from outside: which host it addresses, and which headers are forwarded. */
import { describe, expect, it } from 'vitest';
import { checkHead, toForwarded, valueOf } from '../../../local/request-head.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';

const ORIGIN = 'https://mcp.example.com';

function verdict(rawHeaders: string[], url: string | undefined = '/mcp', origin = ORIGIN): string {
  try {
    checkHead({ url, rawHeaders }, origin);
    return 'passes';
  } catch (error) {
    return error instanceof PorticoError ? error.code : String(error);
  }
}

describe('a head', () => {
  it.each(['mcp.example.com', 'MCP.EXAMPLE.COM', 'mcp.example.com:443'])(
    '[OPS-5] passes for the host %s',
    host => expect(verdict(['host', host])).toBe('passes'),
  );

  it.each([
    'evil.example',
    'mcp.example.com:80',
    'mcp.example.com:8443',
    'mcp.example.com.',
    '127.0.0.1',
    'localhost',
    '[::1]:8787',
  ])('[OPS-5] [SEC-5] is refused for the host %s', host => {
    expect(verdict(['Host', host])).toBe('origin_refused');
  });

  it.each([
    ['no host', []],
    ['two hosts', ['Host', 'mcp.example.com', 'host', 'mcp.example.com']],
    ['an empty host', ['Host', '']],
    ['a host with a user', ['Host', 'a@mcp.example.com']],
    ['a host with a path', ['Host', 'mcp.example.com/mcp']],
  ])('[OPS-5] [SEC-5] with %s is invalid', (_, headers) => {
    expect(verdict(headers)).toBe('invalid_request');
  });

  it.each(['http://mcp.example.com/mcp', '*', 'mcp.example.com:443', ''])(
    '[OPS-5] [SEC-5] with the target %j is invalid',
    url => expect(verdict(['Host', 'mcp.example.com'], url)).toBe('invalid_request'),
  );

  it('[OPS-5] must have the port of the public URL', () => {
    expect(verdict(['Host', 'mcp.example.com:8443'], '/', `${ORIGIN}:8443`)).toBe('passes');
    expect(verdict(['Host', 'mcp.example.com'], '/', `${ORIGIN}:8443`)).toBe('origin_refused');
  });
});

describe('the forwarded headers', () => {
  it('[OPS-5] [MCP-7] are those that came, in order, with duplicates', () => {
    const rawHeaders = [
      'Host',
      'a',
      'Accept',
      'x',
      'accept',
      'y',
      'Mcp-Name',
      'n',
      'Content-Length',
      '2',
    ];
    expect(toForwarded({ rawHeaders })).toEqual(rawHeaders);
  });

  it('[OPS-5] [SEC-5] exclude those that only the platform or a proxy may set, and those of the connection', () => {
    const dropped = [
      'CF-Connecting-IP',
      'MF-CF-Blob',
      'X-Forwarded-For',
      'X-Forwarded-Proto',
      'X-Real-IP',
      'Forwarded',
      'Connection',
      'Keep-Alive',
      'TE',
      'Upgrade',
      'Expect',
      'X-Mine',
    ];
    const rawHeaders = dropped.flatMap(name => [
      name,
      name === 'Connection' ? 'close, x-mine' : 'v',
    ]);
    expect(toForwarded({ rawHeaders: [...rawHeaders, 'Accept', 'x'] })).toEqual(['Accept', 'x']);
  });

  it('[OPS-5] [SEC-5] keep the host and the length of the body, whatever Connection names', () => {
    const rawHeaders = ['Host', 'a', 'Content-Length', '5'];
    const named = ['Connection', 'Host, content-LENGTH, transfer-encoding'];
    expect(toForwarded({ rawHeaders: [...named, ...rawHeaders] })).toEqual(rawHeaders);
    const chunked = ['Transfer-Encoding', 'chunked'];
    expect(toForwarded({ rawHeaders: [...named, ...chunked] })).toEqual(chunked);
  });

  it('[OPS-5] frame a body without a length as one body', () => {
    const rawHeaders = ['Transfer-Encoding', 'chunked'];
    expect(toForwarded({ rawHeaders })).toEqual(['Transfer-Encoding', 'chunked']);
  });

  it('[OPS-5] combine all values of a header', () => {
    const rawHeaders = ['X-Forwarded-For', '1.1.1.1', 'x-forwarded-for', '2.2.2.2'];
    expect(valueOf({ rawHeaders }, 'x-forwarded-for')).toBe('1.1.1.1,2.2.2.2');
    expect(valueOf({ rawHeaders }, 'accept')).toBeUndefined();
  });
});
