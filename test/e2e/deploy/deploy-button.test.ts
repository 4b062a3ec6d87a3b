/**
 * What Cloudflare's deploy button does: it copies the repository, creates the resources and writes their names and ids into the copy's
 * `wrangler.toml`, creates an empty Worker with the secrets of its form, and runs `npm run deploy` in its builder. Based on its
 * documentation; the API is our fake.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Response as OutboundResponse } from 'miniflare';
import { createDeployWorld, type DeployWorld } from '../support/deploy.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';

const NAME = 'their-gateway';
const KEY = Buffer.alloc(32, 9).toString('base64');
const ids = { database: '', namespace: '' };

let copy: ProjectCopy;
let world: DeployWorld;

const build = () =>
  world.deploy([], {
    CI: 'true',
    WORKERS_CI: '1',
    WRANGLER_CI_OVERRIDE_NAME: NAME,
    WRANGLER_CI_MATCH_TAG: `tag-of-${NAME}`,
    CLOUDFLARE_ACCOUNT_ID: world.cloudflare.account.id,
  });
const codeIn = (text: string): string => /\/setup#([\w-]{43})/.exec(text)?.[1] ?? '';
const changes = () => world.cloudflare.seen.filter(each => !each.startsWith('GET '));

beforeAll(async () => {
  copy = await copyProject();
  world = await createDeployWorld(() => new OutboundResponse(null, { status: 502 }), {
    root: copy.root,
    name: NAME,
  });
  const { account } = world.cloudflare;
  ids.database = account.makeDatabase({ name: 'their-data' });
  ids.namespace = account.makeNamespace('their-catalogs');
  const file = join(copy.root, 'wrangler.toml');
  const project = await readFile(file, 'utf8');
  const written = project
    .replace('name = "portico"', `name = "${NAME}"`)
    .replace(
      'database_name = "portico"',
      `database_name = "their-data"\ndatabase_id = "${ids.database}"`,
    )
    .replace('binding = "CATALOG"', `binding = "CATALOG"\nid = "${ids.namespace}"`);
  if (written.split('\n').length !== project.split('\n').length + 2) throw new Error(written);
  await writeFile(file, written);
});

afterAll(async () => {
  await world?.stop();
  await copy?.remove();
});

it('[OPS-4] [SEC-1] says which secret is missing, and creates no keys of its own', async () => {
  world.cloudflare.account.makeEmptyWorker(NAME, {});
  world.cloudflare.clear();
  const { code, text } = await build();
  expect([code, text]).toEqual([1, expect.stringContaining('has no PORTICO_KEYS')]);
  expect(changes().filter(each => !each.endsWith('/query'))).toEqual([]);
});

it('[OPS-4] uses what the button created, with one key in base64', async () => {
  const { account } = world.cloudflare;
  account.makeEmptyWorker(NAME, { PORTICO_KEYS: KEY });
  const { code, text } = await build();
  expect([code, text]).toEqual([0, expect.stringContaining('keep its keys')]);
  expect([account.databases.size, account.namespaces.size, account.scripts.size]).toEqual([
    1, 1, 1,
  ]);
  const script = account.scripts.get(NAME);
  expect(script?.secrets).toEqual({ PORTICO_KEYS: KEY });
  expect(script?.upload.bindings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'd1', id: ids.database }),
      expect.objectContaining({ type: 'kv_namespace', namespace_id: ids.namespace }),
    ]),
  );
  const page = await fetch(`${world.origin}/setup`, {
    method: 'POST',
    body: new URLSearchParams({ code: codeIn(text), name: 'Ada' }),
  });
  const token = /portico_[\w-]{43}/.exec(await page.text())?.[0];
  const keys = await fetch(`${world.origin}/api/v1/keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([keys.status, await keys.json()]).toEqual([
    200,
    expect.objectContaining({ active: 'k1' }),
  ]);
});

it('[OPS-4] updates it with the next push', async () => {
  world.cloudflare.clear();
  const { code, text } = await build();
  expect([code, codeIn(text)]).toEqual([0, '']);
  expect(world.cloudflare.account.scripts.get(NAME)?.secrets).toEqual({ PORTICO_KEYS: KEY });
  expect(changes().filter(each => !/\/workers\/|\/query$/.test(each))).toEqual([]);
});

it("[OPS-4] refuses a copy whose database is not the Worker's", async () => {
  const file = join(copy.root, 'wrangler.toml');
  const toml = await readFile(file, 'utf8');
  const other = world.cloudflare.account.makeDatabase({ name: 'another' });
  await writeFile(file, toml.replace(ids.database, other));
  world.cloudflare.clear();
  const { code, text } = await build();
  expect([code, text]).toEqual([1, expect.stringContaining(`names the database ${other}`)]);
  expect(changes()).toEqual([]);
});
