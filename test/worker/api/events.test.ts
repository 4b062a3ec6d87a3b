/** `GET /api/v1/events`: changes are streamed to viewers, to each only what they may see. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SseParser, type SseEvent } from '../../../src/http/sse-events.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  registerConnected,
  SERVERS,
  whenSorted,
} from '../support/portico.ts';

const EVENTS = '/api/v1/events';
const portico = createPortico();
let own: { id: string };
let other: { id: string };

const servers = {
  own: new FakeServer({ tools: [toolOf('box')] }),
  other: new FakeServer({ tools: [toolOf('box')] }),
};

// They keep answering: the status of a failing server would change by itself.
beforeEach(() => serve(servers));
beforeAll(async () => {
  serve(servers);
  own = await registerConnected(portico, 'own');
  other = await registerConnected(portico, 'other');
  // A server changes once more when its tools have been classified.
  await Promise.all([whenSorted(own.id), whenSorted(other.id)]);
});

/** Opens a stream and reads it event by event. */
async function watch(token: string) {
  const response = await portico.api('GET', EVENTS, undefined, { token });
  if (response.status !== 200 || !response.body) throw new Error(`${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new SseParser(1e6);
  const waiting: SseEvent[] = [];
  const stream = {
    /** The next event; undefined at the end of the stream. */
    async next(): Promise<{ event: string; data: Record<string, unknown> } | undefined> {
      while (waiting.length === 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        waiting.push(...parser.push(value));
      }
      const { event = '', data = '' } = waiting.shift() ?? {};
      return { event, data: JSON.parse(data) as Record<string, unknown> };
    },
    /** Reads until this change arrives: an edited server changes again by itself, once it is classified. */
    async until(change: 'servers' | 'access'): Promise<void> {
      for (;;) {
        const told = await stream.next();
        if (told?.event !== 'changed') throw new Error(`told ${JSON.stringify(told)}`);
        if ((told.data['changed'] as string[]).includes(change)) return;
      }
    },
    end: () => reader.cancel(),
  };
  return stream;
}

const describeAs = (id: string, description: string) =>
  portico.api('PATCH', `${SERVERS}/${id}`, { description });
const forbid = async (name: string): Promise<void> => {
  const rule = { effect: 'deny', subject: { kind: 'group', name } };
  const { status } = await portico.api('POST', '/api/v1/access/rules', rule);
  if (status !== 201) throw new Error(`no rule: ${status}`);
};
const adminToken = async () =>
  createToken(portico, { scopes: ['admin', 'tools:read', 'tools:call'] });

describe('a stream of changes', () => {
  it('[OPS-1] reports servers and, to administrators, access', async () => {
    const { token } = await adminToken();
    const stream = await watch(token);
    expect(await stream.next()).toEqual({ event: 'watching', data: {} });
    await describeAs(own.id, 'another one');
    expect(await stream.next()).toEqual({ event: 'changed', data: { changed: ['servers'] } });
    await forbid('guests');
    await stream.until('access');
    await stream.end();
    await whenSorted(own.id);
  });

  it('[OPS-1] [ACC-9] reports to a token with limits only what lies within them', async () => {
    const { token } = await createToken(portico, { servers: ['own'], scopes: ['servers:read'] });
    const [stream, whole] = [await watch(token), await watch((await adminToken()).token)];
    expect(await stream.next()).toEqual({ event: 'watching', data: {} });
    await whole.next();
    let heard = 0;
    const next = stream.next().then(event => ((heard += 1), event));
    // Both streams poll equally often: once one has reported two changes, the other has polled too.
    await describeAs(other.id, 'what is hidden');
    await whole.until('servers');
    await forbid('others');
    await whole.until('access');
    await describeAs(other.id, 'hidden still');
    await whole.until('servers');
    expect(heard).toBe(0);
    await describeAs(own.id, 'what is shown');
    expect(await next).toEqual({ event: 'changed', data: { changed: ['servers'] } });
    await Promise.all([stream.end(), whole.end()]);
  });

  it('[OPS-1] [SEC-2] ends with the token', async () => {
    const { id, token } = await createToken(portico, { scopes: ['servers:read'] });
    const stream = await watch(token);
    await stream.next();
    await portico.api('DELETE', `/api/v1/tokens/${id}`);
    expect(await stream.next()).toMatchObject({ event: 'error', data: { code: 'unauthorized' } });
    expect(await stream.next()).toBeUndefined();
  });

  it('[SEC-9] does not stay open for a request that wants no body', async () => {
    const few = createPortico({ PORTICO_PRINCIPAL_STREAMS: '1' });
    const { token } = await createToken(few, { scopes: ['servers:read'] });
    for (let count = 0; count < 2; count += 1) {
      const { status } = await few.api('HEAD', EVENTS, undefined, { token });
      expect(status).toBe(200);
    }
  });

  it('[OPS-1] [ACC-2] is refused without the scope, and bounded per principal', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    expect((await portico.api('GET', EVENTS, undefined, { token })).status).toBe(403);
    const few = createPortico({ PORTICO_PRINCIPAL_STREAMS: '1' });
    const { token: reader } = await createToken(few, { scopes: ['servers:read'] });
    const first = await few.api('GET', EVENTS, undefined, { token: reader });
    const second = await few.api('GET', EVENTS, undefined, { token: reader });
    expect([first.status, second.status]).toEqual([200, 503]);
    await first.body?.cancel();
    const third = await few.api('GET', EVENTS, undefined, { token: reader });
    expect(third.status).toBe(200);
    await third.body?.cancel();
  });
});
