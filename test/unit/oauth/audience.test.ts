/** The audience of a token, and which resources a client may request. */
import { describe, expect, it } from 'vitest';
import { coversAudience, parseAudience } from '../../../src/oauth/audience.ts';
import { coversUrl } from '../../../src/shared/identity/principal.ts';

const ORIGIN = 'https://portico.example.com';

describe('an audience', () => {
  it.each([
    [undefined, ORIGIN],
    [ORIGIN, ORIGIN],
    [`${ORIGIN}/`, ORIGIN],
    [`${ORIGIN}/mcp`, `${ORIGIN}/mcp`],
    [`${ORIGIN}/mcp/`, `${ORIGIN}/mcp`],
    [`${ORIGIN}/mcp?names=dot`, `${ORIGIN}/mcp`],
    ['HTTPS://PORTICO.example.com:443/mcp/servers/one', `${ORIGIN}/mcp/servers/one`],
    [`${ORIGIN}/mcp/toolsets/a%20b`, `${ORIGIN}/mcp/toolsets/a%20b`],
    [`${ORIGIN}/sse`, `${ORIGIN}/sse`],
    [`${ORIGIN}/api/v1`, `${ORIGIN}/api/v1`],
  ])('[ACC-5] of %s is %s', (asked, audience) => {
    expect(parseAudience(asked === undefined ? [] : [asked], ORIGIN)).toBe(audience);
  });

  it.each([
    'https://other.example.com/mcp',
    'http://portico.example.com/mcp',
    `${ORIGIN}:8443/mcp`,
    `${ORIGIN}.evil.example/mcp`,
    `https://portico.example.com@evil.example/mcp`,
    `https://a:b@portico.example.com/mcp`,
    `${ORIGIN}/mcp#part`,
    `${ORIGIN}/mcp/servers`,
    `${ORIGIN}/mcp/servers/a/b`,
    `${ORIGIN}/mcpx`,
    `${ORIGIN}/api`,
    'mcp',
    '',
    `${ORIGIN}/mcp/servers/${'x'.repeat(3_000)}`,
  ])('[ACC-5] is refused for %s', asked => {
    expect(() => parseAudience([asked], ORIGIN)).toThrow(
      expect.objectContaining({ code: 'invalid_target' }),
    );
  });

  it('[ACC-5] may be requested only once', () => {
    expect(() => parseAudience([ORIGIN, `${ORIGIN}/mcp`], ORIGIN)).toThrow('one resource');
  });

  it.each([
    [null, '/api/v1/servers', true],
    [ORIGIN, '/api/v1/servers', true],
    [`${ORIGIN}/mcp`, '/mcp', true],
    [`${ORIGIN}/mcp`, '/mcp/servers/one', true],
    [`${ORIGIN}/mcp`, '/mcpx', false],
    [`${ORIGIN}/mcp`, '/sse', false],
    [`${ORIGIN}/mcp`, '/api/v1/token', false],
    [`${ORIGIN}/mcp/servers/one`, '/mcp', false],
    [`${ORIGIN}/mcp/servers/one`, '/mcp/servers/one', true],
    [`${ORIGIN}/mcp/servers/one`, '/mcp/servers/one2', false],
    [`${ORIGIN}/sse`, '/messages', true],
    [`${ORIGIN}/sse/servers/one`, '/messages', false],
    ['https://other.example.com', '/mcp', false],
  ])('[ACC-5] %s covers %s: %s', (audience, pathname, isCovered) => {
    expect(coversUrl(audience, { origin: ORIGIN, pathname })).toBe(isCovered);
  });

  it('[ACC-5] covers the resources below it', () => {
    expect(coversAudience(`${ORIGIN}/mcp`, `${ORIGIN}/mcp/servers/one`)).toBe(true);
    expect(coversAudience(`${ORIGIN}/mcp/servers/one`, `${ORIGIN}/mcp`)).toBe(false);
    expect(coversAudience(ORIGIN, `${ORIGIN}.evil.example`)).toBe(false);
  });
});
