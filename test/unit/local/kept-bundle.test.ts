/** The cached bundle is rebuilt when one of its source files has changed, and only then. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptBundle } from '../../../local/kept-bundle.ts';

let folder: string;
let entry: string;
let part: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-bundle-'));
  entry = join(folder, 'entry.ts');
  part = join(folder, 'part.ts');
  await writeFile(part, 'export const said: string = "first";');
  await writeFile(entry, 'import { said } from "./part.ts"; export default said;');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bundled = () => keptBundle(entry, join(folder, 'kept'));

/** Marks the cached bundle, so that its use is visible. */
async function mark(): Promise<void> {
  const file = join(folder, 'kept', 'worker.json');
  const kept = JSON.parse(await readFile(file, 'utf8')) as { text: string };
  await writeFile(file, JSON.stringify({ ...kept, text: 'as it was kept' }));
}

describe('the bundle of the Worker', () => {
  it('is reused while nothing has changed', async () => {
    expect(bundled()).toContain('first');
    await mark();
    expect(bundled()).toBe('as it was kept');
  });

  it('is rebuilt when one of its files has changed', async () => {
    bundled();
    await mark();
    await writeFile(part, 'export const said: string = "another";');
    expect(bundled()).toContain('another');
  });

  it('is rebuilt when one of its files is deleted', async () => {
    bundled();
    await mark();
    await writeFile(entry, 'export default "alone";');
    await rm(part);
    expect(bundled()).toContain('alone');
  });

  it('is rebuilt for another entry, or if the cached one cannot be read', async () => {
    bundled();
    await mark();
    expect(keptBundle(part, join(folder, 'kept'))).toContain('first');
    await writeFile(join(folder, 'kept', 'worker.json'), '{');
    expect(bundled()).toContain('first');
  });

  it('is built even if it cannot be cached', async () => {
    await writeFile(join(folder, 'kept'), 'no folder');
    expect(bundled()).toContain('first');
  });
});
