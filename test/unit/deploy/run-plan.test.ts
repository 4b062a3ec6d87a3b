/** The bookmark that an upgrade notes, over runs that break off. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openKeptFiles, type KeptFiles } from '../../../deploy/kept-files.ts';
import { readOptions } from '../../../deploy/options.ts';
import { runPlan } from '../../../deploy/run-plan.ts';
import { toTarget } from '../../../deploy/target.ts';

const options = readOptions([]);
const target = toTarget(options, { name: 'portico' }, {});
let folder: string;
let files: KeptFiles;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-run-'));
  files = await openKeptFiles(folder);
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the part of an upgrade that notes a bookmark and migrates. @returns what it printed, and the bookmark in the file */
async function upgrade(pending: string[], now: string, database = 'db') {
  const said: string[] = [];
  const steps = [
    { name: 'bookmark', text: 'note' },
    { name: 'migrations', text: 'apply' },
  ] as const;
  await runPlan(
    { steps, kept: [], origin: 'https://x.example', pending, needsKeys: false },
    { database: { id: database, migrations: [], tokens: 0, administrators: 0 } },
    options,
    target,
    {
      api: { request: async () => ({ bookmark: now }), find: async () => undefined },
      wrangler: { run: async () => {} },
      files,
      steps: {
        run: async (_, work) => work(),
        say: line => void said.push(line),
        warn: () => {},
        style: (_, text) => text,
      },
      account: 'a',
      writeConfig: async () => '',
      makeKeys: () => '',
      version: '1.0.0',
    },
  );
  const note = await files.read('deployment.json');
  return { said: said.join('\n'), noted: Reflect.get(Object(note), 'bookmark') as unknown };
}

it('[OPS-4] keeps the bookmark from before the first migration if a run breaks off between two', async () => {
  expect(await upgrade(['2', '3', '4'], 'before')).toMatchObject({ noted: 'before' });
  // The database has seen the first one.
  const again = await upgrade(['3', '4'], 'between');
  const day = new Date().toISOString().slice(0, 8);
  expect(again.noted).toBe('before');
  expect(again.said).toContain(`  before of the run that broke off on ${day}`);
  expect(await upgrade(['4'], 'later')).toMatchObject({ noted: 'before' });
});

it('[OPS-4] takes a new one for the next upgrade, if none was applied, and for another database', async () => {
  await upgrade(['2', '3'], 'first');
  expect(await upgrade(['2', '3'], 'none applied')).toMatchObject({ noted: 'none applied' });
  expect(await upgrade(['4'], 'next')).toMatchObject({ noted: 'next' });
  await upgrade(['5', '6'], 'last');
  expect(await upgrade(['6'], 'elsewhere', 'other')).toMatchObject({ noted: 'elsewhere' });
});

it('[OPS-4] takes a new one if the run broke off so long ago that its bookmark is no longer valid', async () => {
  await upgrade(['2', '3'], 'before');
  const later = Date.now() + 31 * 86_400_000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(later);
  try {
    expect(await upgrade(['3'], 'now')).toMatchObject({ noted: 'now' });
  } finally {
    clock.mockRestore();
  }
});
