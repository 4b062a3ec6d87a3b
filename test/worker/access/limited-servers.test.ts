/** What a token limited to one server may change of it over REST, and what it may not. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ScopeSchema } from '../../../src/shared/identity/principal.ts';
import { listApprovals } from '../support/approvals.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  createToken,
  registerConnected,
  SERVERS,
} from '../support/portico.ts';

const portico = createPortico();
const scopes = ScopeSchema.options;
let own: { id: string };
let hidden: { id: string };
/** A token with every scope, limited to one server. */
let limited: string;
/** The same, limited to the tools of the server that begin with `open_`. */
let partial: string;

beforeAll(async () => {
  serve({
    own: new FakeServer({ tools: [toolOf('open_box'), toolOf('shut_box')] }),
    hidden: new FakeServer({ tools: [toolOf('canary_tool')] }),
  });
  own = await registerConnected(portico, 'own');
  hidden = await registerConnected(portico, 'hidden');
  limited = (await createToken(portico, { servers: ['own'], scopes })).token;
  partial = (await createToken(portico, { tools: ['own.open_*'], scopes })).token;
});

describe('a server within the limits of a token', () => {
  const PATH = () => `${SERVERS}/${own.id}`;
  const statusOf = async (method: string, path: string, body?: unknown, token = limited) =>
    (await portico.api(method, path, body, { token })).status;

  it('[ACC-9] is administered with it if the whole server lies within the limits', async () => {
    const adminAudit: [method: string, path: string, body?: object][] = [
      ['GET', PATH()],
      ['GET', `${PATH()}/health`],
      ['GET', `${PATH()}/skills`],
      ['PATCH', PATH(), { description: 'Boxes', connection_config: { headers: { 'x-key': 'v' } } }],
      ['POST', `${PATH()}/disconnect`],
      ['POST', `${PATH()}/connect`],
    ];
    for (const [method, path, body] of adminAudit) {
      expect([path, await statusOf(method, path, body)]).toEqual([path, 200]);
      expect([path, await statusOf(method, path, body, partial)]).toEqual([path, 404]);
    }
    const listed = await portico.api('GET', SERVERS, undefined, { token: limited });
    expect(await listed.json()).toMatchObject({ servers: [{ id: own.id }], total: 1 });
    const none = await portico.api('GET', SERVERS, undefined, { token: partial });
    expect(await none.json()).toEqual({ servers: [], total: 0 });
  });

  it('[ACC-9] keeps its name, its addresses, and the secrets that are sent to it', async () => {
    const secret = { value: 'v', origins: ['https://own.example.com'] };
    for (const name of ['CANARY_KEY', 'OWN_KEY'])
      expect(await statusOf('PUT', `/api/v1/secrets/${name}`, secret, ADMIN)).toBe(200);
    const withKey = (name: string) => ({ connection_config: { headers: { 'x-key': name } } });
    expect(await statusOf('PATCH', PATH(), withKey('${OWN_KEY}'), ADMIN)).toBe(200);
    const refused = [
      { name: 'other' },
      { connection_config: { url: 'https://own.example.com/other' } },
      { health_check_url: 'https://own.example.com/health' },
      { transport_type: 'SSE' },
      withKey('${CANARY_KEY}'),
      withKey('${NO_SUCH_KEY}'),
      { connection_config: { auth: { type: 'bearer', token: '${CANARY_KEY}' } } },
      {
        connection_config: {
          auth: { type: 'client_credentials', client_id: 'a', client_secret: 'b' },
        },
      },
    ];
    for (const body of refused) {
      const response = await portico.api('PATCH', PATH(), body, { token: limited });
      const { code, detail } = await response.json<{ code: string; detail: string }>();
      const wanted = { code: 'forbidden', detail: 'This needs a token without limits' };
      expect({ body, code, detail }).toEqual({ body, ...wanted });
    }
    expect(await statusOf('PATCH', PATH(), withKey('key ${OWN_KEY}'))).toBe(200);
    const auth = { connection_config: { headers: null, auth: { type: 'bearer', token: 'abc' } } };
    expect(await statusOf('PATCH', PATH(), auth)).toBe(200);
  });

  it('[ACC-9] [SEC-7] has its tools approved, without showing the hidden tools that they resemble', async () => {
    serve({
      twin: new FakeServer({ tools: [toolOf('canary_t00l'), toolOf('plain')] }),
      own: new FakeServer(),
    });
    const twin = await registerConnected(portico, 'twin', { tool_approval: 'hold' });
    const { token } = await createToken(portico, { servers: ['twin', 'own'], scopes });
    const read = async (held: string) => {
      const path = `/api/v1/approvals?server=${twin.id}`;
      const response = await portico.api('GET', path, undefined, { token: held });
      return response.json<{ approvals: { kind: string; name: string; id: string }[] }>();
    };
    const seen = await read(token);
    expect(seen.approvals.map(({ name }) => name).toSorted()).toEqual(['canary_t00l', 'plain']);
    expect(JSON.stringify(seen)).not.toContain('canary_tool');
    expect(JSON.stringify(seen)).not.toContain(hidden.id);
    const items = (await listApprovals(portico, twin.id)).approvals
      .filter(({ name }) => name === 'plain')
      .map(({ server_id, kind, name, held_fingerprint: fingerprint }) => {
        return { server_id, kind, name, fingerprint };
      });
    expect(await statusOf('POST', '/api/v1/approvals/approve', { items }, token)).toBe(200);
    expect(await statusOf('POST', '/api/v1/approvals/approve', { items })).toBe(404);
  });
});
