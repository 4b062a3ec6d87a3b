/** Deleting an account that the caller may not see leaves the same as deleting one that does not exist. */
import { expect, it } from 'vitest';
import { createPerson } from '../support/call-rows.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { createPortico, register } from '../support/portico.ts';

const portico = createPortico();

it('[ACC-3] [ACC-8] also in the row of the audit that its caller reads', async () => {
  serve({ shared: new FakeServer() });
  await register(portico, 'shared', { accounts: 'per_principal' });
  const ada = await createPerson(portico);
  const bob = await createPerson(portico);
  const given = { server: 'shared', token: 'of-ada' };
  const made = await portico.api('POST', '/api/v1/accounts', given, { token: ada.token });
  const { id } = await made.json<{ id: string }>();
  const rowsOf = async (account: string) => {
    const path = `/api/v1/accounts/${account}`;
    const refused = await portico.api('DELETE', path, undefined, { token: bob.token });
    expect(refused.status).toBe(404);
    const query = `/api/v1/audit?action=account.delete&subject=${account}`;
    const read = await portico.api('GET', query, undefined, { token: bob.token });
    const { events } = await read.json<{ events: { outcome: string; code: string }[] }>();
    return events.map(({ outcome, code }) => [outcome, code]);
  };
  const unknown = await rowsOf(crypto.randomUUID());
  expect(unknown).toEqual([['failed', 'not_found']]);
  expect(await rowsOf(id)).toEqual(unknown);
});
