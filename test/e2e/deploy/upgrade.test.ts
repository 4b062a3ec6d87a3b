/** `npm run deploy` of a version with one more migration than the running one, with the real wrangler and our fake API. */
import { readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Response as OutboundResponse } from 'miniflare';
import { createDeployWorld, type DeployWorld } from '../support/deploy.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';

const NAME = 'upgraded';
let copy: ProjectCopy;
let world: DeployWorld;

beforeAll(async () => {
  copy = await copyProject(toml => toml.replace('name = "portico"', `name = "${NAME}"`));
  const outbound = () => new OutboundResponse(null, { status: 502 });
  world = await createDeployWorld(outbound, { root: copy.root, name: NAME });
});

afterAll(async () => {
  await world?.stop();
  await copy?.remove();
});

/** Turns the copy into the version before the last migration. @returns a function that reverts that */
async function goBack(last: string): Promise<() => Promise<void>> {
  const file = join(copy.root, 'migrations', last);
  const names = join(copy.root, 'src/servers/health/migration-names.ts');
  const text = await readFile(names, 'utf8');
  await rename(file, `${file}.later`);
  await writeFile(names, text.replace(`  '${last}',\n`, ''));
  return async () => {
    await rename(`${file}.later`, file);
    await writeFile(names, text);
  };
}

const get = (path: string, token = '') =>
  fetch(world.origin + path, { headers: { authorization: `Bearer ${token}` } });

it('[OPS-4] applies new migrations before the Worker that needs them, and keeps all data', async () => {
  const migrations = (await readdir(join(copy.root, 'migrations'))).toSorted();
  const last = migrations.at(-1) ?? '';
  const goOn = await goBack(last);
  const first = await world.deploy();
  expect([first.code, first.text]).toEqual([
    0,
    expect.stringContaining(`apply ${migrations.length - 1} migrations`),
  ]);
  const code = /\/setup#([\w-]{43})/.exec(first.text)?.[1] ?? '';
  const body = new URLSearchParams({ code, name: 'Grace' });
  const page = await (await fetch(`${world.origin}/setup`, { method: 'POST', body })).text();
  const token = /portico_[\w-]{43}/.exec(page)?.[0] ?? '';
  expect((await get('/health/ready')).status).toBe(200);

  await goOn();
  world.cloudflare.clear();
  const second = await world.deploy();
  expect([second.code, second.text]).toEqual([0, expect.stringContaining('apply 1 migration')]);
  expect(second.text).toContain('keep its keys');
  const { seen, account } = world.cloudflare;
  const applied = seen.lastIndexOf('POST /d1/database/*/query');
  const uploaded = seen.findIndex(each => /^(PUT|POST) \/workers\/scripts\/[^/]+/.test(each));
  const marked = seen.indexOf('GET /d1/database/*/time_travel/bookmark');
  expect([marked >= 0, marked < applied, applied < uploaded]).toEqual([true, true, true]);
  expect([account.databases.size, account.namespaces.size]).toEqual([1, 1]);
  const [printed = 'none'] = /^ {2}(\S+) \(to go back/m.exec(second.text)?.slice(1) ?? [];
  const noted = () => readFile(join(world.kept, 'deployment.json'), 'utf8');
  expect(await noted()).toContain(printed);

  expect((await get('/health/ready')).status).toBe(200);
  const principals = await (await get('/api/v1/principals', token)).text();
  expect(principals).toContain('"Grace"');

  // Whoever deploys once more, perhaps a former version, may need it all the more.
  expect((await world.deploy()).code).toBe(0);
  expect(await noted()).toContain(printed);
});
