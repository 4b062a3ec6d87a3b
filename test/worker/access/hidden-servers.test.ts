/** A server of which a caller may use nothing, beside rules about single tools: requests that name it find no such server. */
import { beforeAll, expect, it } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { createPortico, registerConnected } from '../support/portico.ts';

const portico = createPortico();
const RULES = '/api/v1/access/rules';
let ada: Person;

beforeAll(async () => {
  serve({ vault: new FakeServer({ tools: [toolOf('read')] }) });
  await registerConnected(portico, 'vault');
  ada = await createPerson(portico);
  const subject = { kind: 'principal', id: ada.principalId };
  for (const rule of [
    { effect: 'deny', subject, server: 'vault' },
    { effect: 'deny', subject: { kind: 'everyone' }, server: '*', tool: 'drop_*' },
  ]) {
    await portico.api('POST', RULES, rule);
  }
});

/** The answer to a request that names a server, without that name. */
async function answerOf(path: string, name: string, body: (name: string) => object) {
  const response = await portico.api('POST', path, body(name), { token: ada.token });
  return [response.status, (await response.text()).replaceAll(name, 'NAME')];
}

it.each<[string, string, (name: string) => object]>([
  ['a token for it', '/api/v1/tokens', name => ({ name: 'a', servers: [name] })],
  ['a token for its tools', '/api/v1/tokens', name => ({ name: 'a', tools: [`${name}.x`] })],
  ['an account at it', '/api/v1/accounts', name => ({ server: name, token: 'a-token-there' })],
])('[ACC-3] [ACC-9] it is unknown to a request for %s', async (_what, path, body) => {
  const answer = await answerOf(path, 'vault', body);
  expect(answer).toEqual(await answerOf(path, 'vanish', body));
  expect([404, 422]).toContain(answer[0]);
});
