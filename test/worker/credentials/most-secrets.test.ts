/** The limit of named secrets, also for several that are put at once. */
import { env } from 'cloudflare:workers';
import { expect, it, onTestFinished } from 'vitest';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
const MOST = 2_000;

it('[SEC-4] there are 2,000 secrets at most, also if several are put at once', async () => {
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO secrets (name, sealed, origins, revision, created_at, updated_at)
     SELECT 'FILL_' || i, '', '[]', 1, 0, 0 FROM n LIMIT (SELECT ? - count(*) FROM secrets)`,
  )
    .bind(MOST, MOST - 1)
    .run();
  onTestFinished(async () => {
    await env.DB.prepare(`DELETE FROM secrets WHERE name LIKE 'FILL%' OR name LIKE 'LAST%'`).run();
  });
  const body = { value: 'x', origins: ['https://last.example.com'] };
  const putAll = () =>
    Promise.all([1, 2, 3, 4, 5, 6].map(n => portico.api('PUT', `/api/v1/secrets/LAST_${n}`, body)));
  const statuses = (await putAll()).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
  const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM secrets').first()) ?? {};
  expect(n).toBe(MOST);
  // One that exists can still be replaced.
  expect((await putAll()).map(({ status }) => status)).toEqual(statuses);
});
