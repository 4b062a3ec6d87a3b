/** `portico oauth-clients` on a real gateway: a client is created, shown without its secret, and removed. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.stop();
});

const portico = (words: string) =>
  runPortico(words.split(' '), {
    cwd: process.cwd(),
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
    input: '',
  });

it('[ACC-5] [OPS-8] a client is created, shown and removed, and its secret is printed once', async () => {
  expect((await portico('oauth-clients')).err).toContain('no clients yet');
  const made = await portico(
    'oauth-clients add Reports --redirect https://reports.example.com/cb --redirect http://localhost/cb',
  );
  const [, id, secret = ''] =
    /^client_id=(client_\S{22})\nclient_secret=(portico_secret_\S{43})\n$/.exec(made.out) ?? [];
  expect([made.code, id]).toEqual([0, expect.any(String)]);
  const open = await portico('oauth-clients add Desk --redirect http://127.0.0.1/cb --public');
  expect(open.out).toMatch(/^client_id=client_\S{22}\n$/);
  const list = await portico('oauth-clients');
  expect(list.out).toMatch(/^NAME +ID +KIND +USED\nDesk +client_\S+ +manual +never\nReports +/);
  const shown = await portico(`oauth-clients show ${id}`);
  expect(shown.out).toContain('https://reports.example.com/cb');
  expect(`${list.out}${shown.out}${shown.err}`).not.toContain(secret);
  const wrong = await portico('oauth-clients add Evil --redirect http://evil.example.com/cb');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('redirect_uris')]);
  expect((await portico('oauth-clients remove Reports')).err).toBe(
    "oauth-client 'Reports' is removed\n",
  );
  const gone = await portico('oauth-clients remove Reports');
  expect(gone.err).toContain("there is no oauth-client 'Reports'; see portico oauth-clients");
});
