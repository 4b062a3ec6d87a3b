/** What the object of calls stores about its chain besides the database: foreign rows, and verifications while calls end. */
import { toCaller } from '../../../src/access/policy/caller.ts';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import { GENESIS } from '../../../src/audit/audit-schema.ts';
import { NO_SEAL } from '../../../src/audit/chunks/seal-store.ts';
import { AuditService } from '../../../src/audit/audit-service.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  heldCalls,
  logOf,
  rowsOf,
} from '../support/call-rows.ts';
import { createPortico, createToken } from '../support/portico.ts';

const portico = createPortico();
const admin = toCaller(SETUP_TOKEN, { defaultAccess: 'open', rules: [], toolsets: [] });

async function createCalls(count: number) {
  const person = await createPerson(portico);
  for (let i = 0; i < count; i += 1) {
    const id = crypto.randomUUID();
    await logOf(person).begin(beginningOf(person, id, { refused: endOf(id) }));
  }
  return person;
}

it('[SEC-6] calls stay in their object while the database has another row in the place of one', async () => {
  const person = await createCalls(2);
  const insert = `INSERT INTO audit_events VALUES (?, 2, 'foreign', 1, 'p', 't', 'a', 's', 'done', NULL, '{}', '', 'h')`;
  await env.DB.prepare(insert).bind(person.shard).run();
  await logOf(person).keep(person.shard);
  expect(await heldCalls(person)).toHaveLength(2);
  await env.DB.prepare("DELETE FROM audit_events WHERE id = 'foreign'").run();
  const rows = await rowsOf(portico, person);
  expect(rows.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(await heldCalls(person)).toEqual([]);
});

it('[SEC-6] a verification asks the object again only where calls ended since', async () => {
  const person = await createCalls(3);
  const heads = (await rowsOf(portico, person)).map(({ seq, hash }) => ({ seq, hash }));
  const [, second = GENESIS, third = GENESIS] = heads;
  const check = async (...exported: (typeof GENESIS)[]) => {
    let asked = 0;
    const kept = async () => {
      asked += 1;
      const next = exported[Math.min(asked, exported.length) - 1] ?? GENESIS;
      return { exported: next, pruned: GENESIS };
    };
    const service = new AuditService(env.DB, kept, async () => ({
      sealed: NO_SEAL,
      pruned: NO_SEAL,
    }));
    const { isIntact, firstBrokenSeq } = await service.verify(admin, person.shard, 1, 100);
    return { asked, isIntact, firstBrokenSeq };
  };
  expect(await check(third)).toMatchObject({ asked: 1, isIntact: true });
  expect(await check(second, third)).toMatchObject({ asked: 2, isIntact: true });
  // What is broken is checked twice, since rows may have been deleted because of their age meanwhile.
  expect(await check(second)).toEqual({ asked: 4, isIntact: false, firstBrokenSeq: 3 });
});

it('[SEC-6] a row whose detail is no object is shown as unreadable, and is not intact', async () => {
  const person = await createCalls(1);
  const [row] = await rowsOf(portico, person);
  for (const detail of ['no JSON', '[1]', 'null']) {
    const edit = env.DB.prepare('UPDATE audit_events SET detail = ? WHERE id = ?');
    await edit.bind(detail, row?.id).run();
    const found = await portico.api('GET', `/api/v1/audit?principal=${person.principalId}`);
    expect(await found.json()).toMatchObject({ events: [{ detail: { unreadable: true } }] });
  }
});

it('[SEC-6] [ACC-2] who is no administrator learns nothing of rows and chains', async () => {
  const { token } = await createToken(portico, { scopes: ['servers:read'] });
  const paths = [`export?after=${crypto.randomUUID()}`, 'shards', 'verify?from=1000000'];
  for (const path of paths) {
    const response = await portico.api('GET', `/api/v1/audit/${path}`, undefined, { token });
    expect([path, response.status]).toEqual([path, 403]);
  }
});

it('[SEC-6] a search by name finds the record with that current or last name, not with a former one', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'maiden' });
  const { id } = await made.json<{ id: string }>();
  const { token } = await createToken(portico, { principal: id, scopes: ['servers:write'] });
  await portico.api('POST', '/api/v1/aggregator/servers/none/connect', undefined, { token });
  await portico.api('PATCH', `/api/v1/principals/${id}`, { name: 'married' });
  const actionsOf = async (name: string) => {
    const found = await portico.api('GET', `/api/v1/audit?principal=${name}`);
    const { events } = await found.json<{ events: { action: string }[] }>();
    return events.map(({ action }) => action);
  };
  expect(await actionsOf('married')).toEqual(['server.connect']);
  expect(await actionsOf('maiden')).toEqual([]);
});
