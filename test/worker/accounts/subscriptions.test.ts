/** Notifications of a server with accounts reach a client through the session of its own account, or not at all. */
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { openListen } from '../support/event-streams.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type RpcAnswer,
  whenQuiet,
} from '../support/portico.ts';
import { TellingServer } from '../support/telling-server.ts';

const portico = createPortico();
const NAMES = ['keeping', 'modern'] as const;
const SERVERS = { keeping: new TellingServer('legacy', true), modern: new TellingServer('modern') };
/** Method and credential of each request. */
const seen: [method: string, authorization: string | null][] = [];
let ada: Person;
let eve: Person;

const serveBoth = () =>
  fakeUpstreams(
    Object.fromEntries(
      NAMES.map(name => [
        `https://${name}.example.com`,
        async (request: Request) => {
          const text = await request.clone().text();
          const { method = request.method } = (text === '' ? {} : JSON.parse(text)) as {
            method?: string;
          };
          seen.push([method, request.headers.get('authorization')]);
          return SERVERS[name].handle(request);
        },
      ]),
    ),
  );

beforeAll(async () => {
  serveBoth();
  for (const name of NAMES) {
    await whenQuiet((await registerConnected(portico, name, { accounts: 'per_principal' })).id);
  }
});
beforeEach(async () => {
  serveBoth();
  ada = await createPerson(portico);
  eve = await createPerson(portico);
  for (const name of NAMES) {
    const body = { server: name, token: 'token-of-ada' };
    await portico.api('POST', '/api/v1/accounts', body, ada);
  }
  seen.length = 0;
});

async function subscribe({ token }: Person, uri: string): Promise<RpcAnswer> {
  const session = await initialize(portico, { token });
  const message = legacy('resources/subscribe', { uri });
  const response = await portico.post(message, { headers: inSession(session), token });
  return response.json<RpcAnswer>();
}

it('[UP-4] [ACC-8] [MCP-4] is subscribed to in the session of the caller’s own account', async () => {
  expect((await subscribe(ada, 'keeping+note://a')).error).toBeUndefined();
  const own = seen.filter(([method]) => ['initialize', 'resources/subscribe'].includes(method));
  expect(own).toEqual([
    ['initialize', 'Bearer token-of-ada'],
    ['resources/subscribe', 'Bearer token-of-ada'],
  ]);
  seen.length = 0;
  expect((await subscribe(eve, 'keeping+note://a')).error).toBeDefined();
  expect(seen.filter(([method]) => method === 'resources/subscribe')).toEqual([]);
});

it('[UP-4] [ACC-8] [MCP-4] is not subscribed to with an account that is not the caller’s', async () => {
  const refused = await subscribe(ada, 'modern+note://a');
  expect(refused.error?.message).toContain('modern has no subscriptions for personal accounts');
  const stream = await openListen(portico, { resourceSubscriptions: ['modern+note://a'] }, ada);
  expect(stream.events[0]?.data).toContain('"resourceSubscriptions":[]');
  await stream.close();
  expect(SERVERS.modern.asked.filter(entry => entry.includes('note://a'))).toEqual([]);
});
