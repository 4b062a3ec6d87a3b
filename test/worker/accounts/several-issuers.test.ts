/** A server that names several authorization servers: accounts end with an issuer that it no longer names, not with their order. */
import { beforeEach, expect, it } from 'vitest';
import { createPerson } from '../support/call-rows.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { signIn } from '../support/oauth-client.ts';
import { createPortico, register } from '../support/portico.ts';
import {
  accountRows,
  comeBack,
  IssuedServer,
  Issuer,
  leave,
} from '../support/signed-in-accounts.ts';

const portico = createPortico();
const tickets = new IssuedServer('tickets');
const second = new Issuer('https://second.example.net');
let named: string[] = [];

beforeEach(async () => {
  fakeUpstreams({
    [tickets.origin]: request =>
      request.url.includes('oauth-protected-resource')
        ? Response.json({ resource: `${tickets.origin}/mcp`, authorization_servers: named })
        : tickets.handle(request),
    [tickets.issuer.url]: tickets.issuer.handle,
    [second.url]: second.handle,
  });
  await register(portico, 'tickets', { accounts: 'per_principal' });
});

/** Somebody new connects at an issuer. @returns the issuers of all accounts, in the order of connecting */
async function connectAt(issuer: Issuer): Promise<(string | null)[]> {
  const { token } = await createPerson(portico);
  const browser = await signIn(portico, token);
  const back = issuer.agree(await leave(browser, 'tickets'), 'there');
  expect(await comeBack(browser, back)).toContain('Connected');
  return (await accountRows()).map(row => row.issuer);
}

it('[UP-4] [ACC-8] an account stays while its issuer is named, and goes with the account that is connected after that', async () => {
  const first = tickets.issuer;
  named = [first.url];
  expect(await connectAt(first)).toEqual([first.url]);
  named = [second.url, first.url];
  expect((await connectAt(second)).toSorted()).toEqual([first.url, second.url].toSorted());
  named = [second.url];
  expect(await connectAt(second)).toEqual([second.url, second.url]);
});
