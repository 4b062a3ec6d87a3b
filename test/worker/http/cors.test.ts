/** Web pages of other origins: allowed ones may do what their token allows, all others nothing. */
import { describe, expect, it } from 'vitest';
import { ADMIN, createPortico, legacy, SERVERS } from '../support/portico.ts';

const PAGE = 'https://app.example.com';
const EVIL = 'https://evil.example';
const portico = createPortico({ PORTICO_ALLOWED_ORIGINS: PAGE });
const PATHS = [
  '/mcp',
  '/mcp/servers/x',
  '/mcp/toolsets/x',
  '/sse',
  '/messages',
  SERVERS,
  '/metrics',
];

const ask = (path: string, origin: string, headers: string) =>
  portico.fetch(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': headers,
    },
  });

describe('a page of an allowed origin', () => {
  it.each(PATHS)('[SEC-5] may send what the protocol needs: %s', async path => {
    const wanted =
      'authorization, Cache-Control, Content-Type, Portico-Owner, Mcp-Session-Id, mcp-param-tenant_id';
    const { status, headers } = await ask(path, PAGE, `${wanted}, cookie, x-forwarded-for`);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(headers.get('access-control-allow-headers')).toBe(wanted.toLowerCase());
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toContain('origin');
  });

  it('[SEC-5] can read the response, with a token', async () => {
    const headers = { origin: PAGE };
    const answer = await portico.post(legacy('tools/list'), { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
    const refused = await portico.post(legacy('tools/list'), { headers, token: null });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe(PAGE);
  });

  it('[SEC-5] [SEC-4] may not ask for an unlimited number of headers', async () => {
    const many = Array.from({ length: 65 }, (_, i) => `mcp-${i}`).join(',');
    expect((await ask('/mcp', PAGE, many)).status).toBe(400);
  });
});

describe('a page of any other origin', () => {
  it.each(PATHS)('[SEC-5] is granted nothing: %s', async path => {
    for (const origin of [EVIL, 'null', `${PAGE}.evil.example`, `${PAGE}:8443`]) {
      const asked = await ask(path, origin, 'authorization');
      expect([origin, asked.status]).toEqual([origin, 403]);
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
      const sent = await portico.fetch(path, {
        headers: { origin, authorization: `Bearer ${ADMIN}` },
      });
      expect([origin, sent.status]).toEqual([origin, 403]);
      expect(sent.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('a request without an origin', () => {
  it('[SEC-5] gets no CORS headers', async () => {
    const answer = await portico.post(legacy('tools/list'));
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(answer.headers.get('vary')).toBeNull();
  });
});
