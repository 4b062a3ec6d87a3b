/**
 * Schema and code one version apart, in both directions (docs/decisions/0043-one-version-apart.md): the last release's Worker on this
 * schema, as between migration and upload and after a roll-back; and this Worker on the last release's schema, as after a restored
 * database.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyMigrations } from '../../../local/migrations.ts';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { askApi, connectServer, tour, type Toured } from '../support/gateway-tour.ts';
import { openLegacy, resumeLegacy, textOf, type RawClient } from '../support/raw-client.ts';
import { readTwoVersions, type TwoVersions, type Version } from '../support/two-versions.ts';

let versions: TwoVersions;
let upstream: Upstream;
/** A folder that the last release created on its own schema. */
let before: string;
let member: string;
let session: RawClient;

const start = async (folder: string, worker: Version, schema: Version) => {
  const host = await versions.start(folder, worker, schema);
  return { host, at: { origin: host.url, adminToken: versions.adminToken } };
};
const readiness = async ({ origin }: Toured) => {
  const response = await fetch(`${origin}/health/ready`);
  return ((await response.json()) as { status: string }).status;
};
/** Whether no migration was added since the last release. */
const isSame = () => versions.migrations.new.length === versions.migrations.last.length;
/** Makes a call in the session that the last release opened. */
const callOn = async ({ origin }: Toured) => {
  const client = resumeLegacy({ url: `${origin}/mcp`, token: member }, session.sessionId);
  return textOf(await client.call('kept.echo', { message: 'still here' }));
};

beforeAll(async () => {
  [upstream, versions] = await Promise.all([startFixture('rich-modern'), readTwoVersions()]);
  before = await versions.folder();
  const { host, at } = await start(before, 'last', 'last');
  await connectServer(at, 'kept', `${upstream.origin}/mcp`);
  const { json } = await askApi(at, 'POST', '/api/v1/tokens', { name: 'member' });
  member = String(json['token']);
  session = await openLegacy({ url: `${at.origin}/mcp`, token: member });
  await callOn(at);
  await host.close();
});

afterAll(async () => {
  await versions?.stop();
  await upstream?.stop();
});

it('[OPS-4] the last Worker keeps working while the schema is migrated under it, and after a roll-back', async () => {
  const folder = await versions.folder(before);
  const last = await start(folder, 'last', 'last');
  await tour(last.at, 'on-its-own', upstream.origin);
  const applied = await applyMigrations(last.host.database(), versions.migrations.new);
  expect(applied.length).toBe(versions.migrations.new.length - versions.migrations.last.length);
  expect(await callOn(last.at)).toContain('still here');
  await tour(last.at, 'on-the-new', upstream.origin);
  await last.host.close();

  const now = await start(folder, 'new', 'new');
  expect(await callOn(now.at)).toContain('still here');
  await tour(now.at, 'the-new', upstream.origin);
  await now.host.close();

  const back = await start(folder, 'last', 'new');
  expect(await callOn(back.at)).toContain('still here');
  await tour(back.at, 'rolled-back', upstream.origin);
});

it('[OPS-4] this Worker works on the last schema like the last one, and reports pending migrations', async () => {
  const folder = await versions.folder(before);
  const { host, at } = await start(folder, 'new', 'last');
  expect(await callOn(at)).toContain('still here');
  await tour(at, 'behind', upstream.origin);
  expect(await readiness(at)).toBe(isSame() ? 'ok' : 'migrations_pending');

  await applyMigrations(host.database(), versions.migrations.new);
  await tour(at, 'caught-up', upstream.origin);
  await expect.poll(() => readiness(at), { timeout: 30_000 }).toBe('ok');
});
