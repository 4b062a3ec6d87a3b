/** The table of learned uses: what is written, and what is deleted when there is too much. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { approvalId } from '../../../src/servers/approvals/definition.ts';
import { createLearning } from '../../../src/search/learning/learning.ts';
import { addUses, KEPT_DAYS, listUses } from '../../../src/search/learning/learning-store.ts';
import type { NewUse } from '../../../src/search/learning/uses.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { dayOf } from '../../../src/shared/util/utc-day.ts';
import { createPerson } from '../support/call-rows.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { createPortico, registerConnected, SERVERS } from '../support/portico.ts';

const TODAY = 20_000;
const portico = createPortico();
let serverId: string;
let known: Pick<NewUse, 'approvalId' | 'fingerprint'>;
let ada: string;

beforeAll(async () => {
  serve({ desk: new FakeServer() });
  serverId = (await registerConnected(portico, 'desk')).id;
  const id = await approvalId(serverId, 'tool', 'echo');
  const row = env.DB.prepare('SELECT approved_fingerprint AS print FROM pins WHERE id = ?');
  const print = await row.bind(id).first<{ print: string }>();
  known = { approvalId: id, fingerprint: print?.print ?? '' };
  ada = (await createPerson(portico)).principalId;
});
afterEach(async () => void (await env.DB.prepare('DELETE FROM learned_uses').run()));

const useOf = (word: string, more: Partial<NewUse> = {}): NewUse => ({
  ...known,
  word,
  principalId: ada,
  day: TODAY,
  ...more,
});
const write = (uses: readonly NewUse[], today = TODAY) =>
  env.DB.batch(addUses(env.DB, uses, today));
const words = async (today = TODAY) =>
  (await listUses(env.DB, today)).map(({ word }) => word).toSorted();
/** Rows of other principals, on days of their own. */
const fill = (count: number, day: number) =>
  env.DB.prepare(
    `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
     INSERT INTO learned_uses SELECT ?2, 'w' || n, 'p' || (n % 100), ?3 FROM n`,
  )
    .bind(count, known.approvalId, day)
    .run();
const count = async (where = '1') =>
  (
    await env.DB.prepare(`SELECT count(*) AS n FROM learned_uses WHERE ${where}`).first<{
      n: number;
    }>()
  )?.n;

describe('the table of uses', () => {
  it('[FIND-4] has one row per word, tool and principal, with the last day', async () => {
    await write([useOf('a'), useOf('a', { day: TODAY - 1 }), useOf('b', { day: TODAY - 3 })]);
    await write([useOf('b')]);
    const [again] = await write([useOf('b')]);
    expect(again?.meta.rows_written).toBe(0);
    const rows = await listUses(env.DB, TODAY);
    expect(rows.map(({ word, day }) => [word, day]).toSorted()).toEqual([
      ['a', TODAY],
      ['b', TODAY],
    ]);
    expect(rows[0]).toMatchObject({ serverId, tool: 'echo', principalId: ada });
    const server = env.DB.prepare('SELECT catalog_hash AS hash FROM servers WHERE id = ?');
    expect(await server.bind(serverId).first()).toEqual({ hash: rows[0]?.catalogHash });
  });

  it('[FIND-4] [SEC-7] accepts only uses of the approved definition, by existing principals', async () => {
    await write([
      useOf('a', { fingerprint: 'another' }),
      useOf('b', { approvalId: 'another' }),
      useOf('c', { principalId: 'another' }),
      useOf('d'),
      useOf('e', { principalId: 'setup-admin' }),
    ]);
    expect(await words()).toEqual(['d', 'e']);
  });

  it('[FIND-4] [SEC-9] keeps a thousand rows of a principal, 20,000 in all and twelve weeks', async () => {
    await fill(19_990, TODAY - 5);
    await write(
      Array.from({ length: 1_003 }, (_, n) => useOf(`x${n}`, { day: TODAY - (n < 3 ? 1 : 0) })),
    );
    expect(await count(`principal_id = '${ada}'`)).toBe(1_000);
    expect(await count(`principal_id = '${ada}' AND day < ${TODAY}`)).toBe(0);
    expect(await count()).toBe(20_000);
    // A new principal's row replaces the oldest.
    await write([useOf('new', { principalId: 'setup-admin' })]);
    expect([await count(), await count(`word = 'new'`)]).toEqual([20_000, 1]);
    const later = TODAY + KEPT_DAYS - 5;
    await write([useOf('late', { day: later })], later);
    expect(await count(`day = ${TODAY - 5}`)).toBe(0);
    expect(await words(TODAY + KEPT_DAYS)).toEqual(['late']);
  });

  it('[FIND-4] [SEC-1] is meaningless under the key of another deployment', async () => {
    const ringOf = (letter: string) => createKeyRing(btoa(letter.repeat(32)));
    const [own, others] = [ringOf('a'), ringOf('b')];
    const day = dayOf(Date.now());
    const digestOf = async (word: string) => (await own.digest('learning', word)).slice(0, 19);
    await write(
      [useOf(await digestOf('creat'), { day }), useOf(await digestOf('issu'), { day })],
      day,
    );
    const [{ catalogHash } = { catalogHash: null }] = await listUses(env.DB, day);
    const server = { id: serverId, catalogHash } as Server;
    const liftUnder = async (keys: typeof own) => {
      const ports = {
        db: env.DB,
        keys,
        gatherMs: 1,
        wait: (ms: number) => scheduler.wait(ms),
        now: () => Date.now(),
      };
      const liftOf = await createLearning(ports).learned.liftOf(ada, 'create an issue');
      return liftOf?.(server, 'echo');
    };
    expect(await liftUnder(own)).toBeCloseTo(0.25);
    expect(await liftUnder(others)).toBe(0);
  });

  it('[FIND-4] loses the rows of a deleted server', async () => {
    await write([useOf('a')]);
    expect((await portico.api('DELETE', `${SERVERS}/${serverId}`)).status).toBe(204);
    await expect.poll(() => count()).toBe(0);
  });
});
