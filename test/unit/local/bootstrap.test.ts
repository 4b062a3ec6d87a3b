/** When the packages count as installed: each package of package-lock.json, in its locked version. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** Plain JavaScript without declarations, because it runs before anything is installed. */
const bootstrap = new URL('../../../local/bootstrap.mjs', import.meta.url).href;
const { isInstalled } = (await import(bootstrap)) as { isInstalled(folder: string): boolean };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-install-'));
  await mkdir(join(folder, 'node_modules'));
});

afterEach(() => rm(folder, { recursive: true }));

const writeLock = (path: string, packages: object) =>
  writeFile(join(folder, path), JSON.stringify({ packages }));

const writeInstalled = (packages: object) => writeLock('node_modules/.package-lock.json', packages);

it('[OPS-3] recognizes a missing, a stale and a complete install', async () => {
  expect(isInstalled(folder)).toBe(false);
  await writeLock('package-lock.json', {
    '': { name: 'portico' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/a-linux': { version: '1.0.0', optional: true },
  });
  expect(isInstalled(folder)).toBe(false);
  await writeInstalled({});
  expect(isInstalled(folder)).toBe(false);
  await writeInstalled({ 'node_modules/a': { version: '0.9.0' } });
  expect(isInstalled(folder)).toBe(false);
  await writeInstalled({ 'node_modules/a': { version: '1.0.0' } });
  expect(isInstalled(folder)).toBe(true);
});

it('treats a damaged record as missing', async () => {
  await writeLock('package-lock.json', {});
  await writeFile(join(folder, 'node_modules/.package-lock.json'), '{');
  expect(isInstalled(folder)).toBe(false);
});
