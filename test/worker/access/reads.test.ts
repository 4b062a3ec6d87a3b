/** What a refresh of a snapshot reads: only a revision if nothing changed, else only what changed. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../src/access/admission/snapshots.ts';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { createSnapshots as create, pass, sql, stopTime } from '../support/aged-snapshots.ts';
import { createPortico, createToken } from '../support/portico.ts';

const SERVERS = 1_000;
const RULES = 200;
const TOOLSETS = 50;
/** The token, its principal and the revision, plus one query per kind that finds nothing later, which counts too. */
const UNCHANGED = 10;

const portico = createPortico();
let token = '';
stopTime();

const insertServer = (name: string, secrets: string[] = []) =>
  env.DB.prepare(
    `INSERT INTO servers (id, name, transport_type, url, status, registered_at, updated_at, credential_view)
     VALUES (?1, ?1, 'HTTP', 'https://' || ?1 || '.example.com', 'CONNECTED', 1, 1, ?2)`,
  ).bind(
    name,
    JSON.stringify({ headers: {}, auth: null, secrets: { headers: secrets, auth: [] } }),
  );
const insertRule = (id: string) =>
  env.DB.prepare(
    `INSERT INTO access_rules VALUES (?, 'allow', 'everyone', '', '*', '*', 0, '', 1, 1, 1)`,
  ).bind(id);
const insertToolset = (name: string) =>
  env.DB.prepare(`INSERT INTO toolsets VALUES (?1, ?1, '', ?2, 1, 1, 1)`).bind(
    name,
    JSON.stringify({ include: ['*'] }),
  );
const named = (kind: string, n: number) => `${kind}-${n}`;

beforeAll(async () => {
  const range = (length: number) => Array.from({ length }, (_, n) => n);
  await env.DB.batch([
    ...range(SERVERS).map(n => insertServer(named('server', n))),
    ...range(RULES).map(n => insertRule(named('rule', n))),
    ...range(TOOLSETS).map(n => insertToolset(named('toolset', n))),
  ]);
  ({ token } = await createToken(portico));
});

/** Snapshots that have loaded once, and a function that refreshes them and counts the rows read. */
async function createReader() {
  const { load, rows, settle } = create();
  const refresh = async () => {
    pass(1_001);
    rows.length = 0;
    const snapshot = await load(token);
    const read = [...rows];
    await settle();
    return { snapshot, read };
  };
  await load(token);
  await settle();
  return { ...(await refresh()), refresh };
}

type Act = readonly [what: string, text: string, ...values: (string | number)[]];

/** One change of every kind that raises the registry's revision; `n` makes each unique. */
const acts = (n: number): readonly Act[] => [
  ['server', 'UPDATE servers SET description = ? WHERE id = ?', `text ${n}`, named('server', n)],
  ['rename', 'UPDATE servers SET name = ? WHERE id = ?', `Renamed-${n}`, named('server', n)],
  ['deleted server', 'DELETE FROM servers WHERE id = ?', named('server', n)],
  ['rule', `UPDATE access_rules SET effect = 'deny' WHERE id = ?`, named('rule', n % RULES)],
  ['deleted rule', 'DELETE FROM access_rules WHERE id = ?', named('rule', n % RULES)],
  [
    'toolset',
    'UPDATE toolsets SET description = ? WHERE id = ?',
    `text ${n}`,
    named('toolset', n % TOOLSETS),
  ],
  ['deleted toolset', 'DELETE FROM toolsets WHERE id = ?', named('toolset', n % TOOLSETS)],
  [
    'cache rule',
    `INSERT INTO cache_rules VALUES (?, ?, '*', 60, 0, '', 1, 1, 1)`,
    crypto.randomUUID(),
    named('server', n),
  ],
  ['deleted cache rule', 'DELETE FROM cache_rules WHERE server_id = ?', named('server', n)],
  [
    'access token',
    `INSERT INTO access_tokens VALUES (?, 'sealed', ?, 'k', 'https://o', 1, 2)
     ON CONFLICT DO UPDATE SET serial = serial + 1`,
    named('server', n),
    n,
  ],
  [
    'secret',
    `INSERT INTO secrets VALUES ('key', 'sealed', '[]', 1, 1, 1)
     ON CONFLICT DO UPDATE SET revision = revision + 1`,
  ],
];

/** The comparable part of a snapshot. */
const stateOf = (snapshot: Snapshot | undefined) =>
  snapshot && { servers: snapshot.servers, access: snapshot.access };

async function readWhole() {
  const { load, settle } = create();
  const snapshot = await load(token);
  await settle();
  return stateOf(snapshot);
}

describe(`a registry of ${SERVERS} servers`, () => {
  it('[EDGE-1] [EDGE-3] costs a refresh a handful of rows if nothing changed', async () => {
    const { refresh, snapshot: before } = await createReader();
    const { read, snapshot } = await refresh();
    expect(read).toEqual([UNCHANGED]);
    expect(snapshot?.servers).toBe(before?.servers);
    // No decision depends on skills.
    await sql(`UPDATE skills SET description = 'other'`);
    expect((await refresh()).read).toEqual([UNCHANGED]);
  });

  it.each(acts(7).map(([what, ...act]) => ({ what, act })))(
    '[EDGE-3] costs a refresh only what changed: $what',
    async ({ act: [text, ...values] }) => {
      const { refresh } = await createReader();
      await sql(text, ...values);
      const { read, snapshot } = await refresh();
      expect(read).toHaveLength(1);
      expect(read[0]).toBeLessThan(UNCHANGED + 20);
      expect(stateOf(snapshot)).toEqual(await readWhole());
      expect((await refresh()).read).toEqual([UNCHANGED]);
    },
  );

  it(`[ACC-3] [EDGE-3] equals a full read after changes of all kinds (seed ${SEED})`, async () => {
    const random = createRandom();
    const { refresh } = await createReader();
    for (let round = 0; round < drawn(40); round += 1) {
      for (let left = random.below(5); left >= 0; left -= 1) {
        const n = random.below(SERVERS);
        const [, text, ...values] = random.pick(acts(n));
        // Some are refused, such as a duplicate rule.
        await sql(text, ...values).catch(() => undefined);
        if (random.chance(0.3)) await insertServer(`New-${round}-${left}`, ['key']).run();
      }
      const { read, snapshot } = await refresh();
      expect(read).toHaveLength(1);
      expect(stateOf(snapshot)).toEqual(await readWhole());
    }
  });

  it('[EDGE-3] is read in full if the change of some revision is not known', async () => {
    const { refresh } = await createReader();
    await sql('UPDATE registry_revision SET revision = revision + 1');
    await sql(`UPDATE servers SET description = 'later' WHERE id = 'server-9'`);
    const { read, snapshot } = await refresh();
    expect(read).toHaveLength(2);
    expect(read[1]).toBeGreaterThan(SERVERS);
    expect(stateOf(snapshot)).toEqual(await readWhole());
    expect((await refresh()).read).toEqual([UNCHANGED]);
  });

  it('[EDGE-3] stores what its last thousand revisions changed', async () => {
    const { refresh } = await createReader();
    const update = env.DB.prepare(`UPDATE servers SET updated_at = updated_at + 1 WHERE id = ?`);
    await env.DB.batch(Array.from({ length: 1_001 }, () => update.bind('server-11')));
    expect(await env.DB.prepare('SELECT count(*) FROM registry_changes').first('count(*)')).toBe(
      1_000,
    );
    const { read, snapshot } = await refresh();
    expect(read).toHaveLength(2);
    expect(stateOf(snapshot)).toEqual(await readWhole());
  });
});
