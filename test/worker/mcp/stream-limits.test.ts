/** How many event streams may be open at once, per principal and in total; each of the three ways to open one counts. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  ADMIN,
  createPortico,
  createToken,
  initialize,
  inSession,
  modern,
  PATIENT,
  type Portico,
} from '../support/portico.ts';
import { readStream, type OpenStream } from '../support/event-streams.ts';
import { vi } from 'vitest';

const open: OpenStream[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
});

const LIMITED = { PORTICO_PRINCIPAL_STREAMS: '3', PORTICO_STREAMS: '5' };

async function get(portico: Portico, token: string): Promise<Response> {
  const session = await initialize(portico, { token });
  const accept = 'text/event-stream';
  const headers = { ...inSession(session), authorization: `Bearer ${token}`, accept };
  return portico.fetch('/mcp', { headers });
}

const sse = (portico: Portico, token: string) =>
  portico.fetch('/sse', { headers: { authorization: `Bearer ${token}` } });

function listen(portico: Portico, token: string): Promise<Response> {
  const { message, headers } = modern('subscriptions/listen', {
    notifications: { toolsListChanged: true },
  });
  return portico.post(message, { token, headers });
}

/** Keeps a stream open until the test is over. */
function keep(response: Response): OpenStream {
  expect(response.headers.get('content-type')).toContain('event-stream');
  const stream = readStream(response);
  open.push(stream);
  return stream;
}

const WAYS = { 'a GET of a session': get, 'HTTP+SSE': sse, 'subscriptions/listen': listen };

describe('[SEC-9] open streams', () => {
  it.each(Object.entries(WAYS))(
    '%s: one too many is refused at once, with the reason',
    async (_way, way) => {
      const portico = createPortico(LIMITED);
      const { token } = await createToken(portico, { scopes: ['tools:read'] });
      for (let count = 0; count < 3; count += 1) keep(await way(portico, token));
      const refused = await way(portico, token);
      expect(refused.headers.get('content-type')).toContain('json');
      expect(await refused.json()).toMatchObject({
        error: { code: 5039, message: 'Too many streams are open; close one, or try again later' },
      });
    },
  );

  it('of a principal leave others theirs, up to the total', async () => {
    const portico = createPortico(LIMITED);
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    for (let count = 0; count < 3; count += 1) keep(await get(portico, token));
    expect((await get(portico, token)).status).toBe(503);
    keep(await get(portico, ADMIN));
    keep(await get(portico, ADMIN));
    const refused = await get(portico, ADMIN);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  });

  it('that ended, or were never opened, make room', async () => {
    const portico = createPortico(LIMITED);
    for (let count = 0; count < 3; count += 1) keep(await get(portico, ADMIN));
    await open.pop()?.close();
    await vi.waitFor(async () => keep(await get(portico, ADMIN)), PATIENT);
    await open.pop()?.close();
    for (let count = 0; count < 5; count += 1) {
      const headers = { authorization: `Bearer ${ADMIN}`, accept: 'text/event-stream' };
      expect((await portico.fetch('/mcp', { headers })).status).toBe(400);
      const { message, headers: own } = modern('subscriptions/listen', { notifications: 7 });
      const wrong = await portico.post(message, { headers: own });
      expect(await wrong.json()).toMatchObject({ error: { code: -32602 } });
    }
    await vi.waitFor(async () => keep(await get(portico, ADMIN)), PATIENT);
  });
});
