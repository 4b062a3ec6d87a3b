/** Concurrent edits of a record: applied at the expected revision, retried on top of another edit, or refused. */
import { expect, it } from 'vitest';
import { editRecord } from '../../../src/records/edit-with-revision.ts';

/** A record that others edit before each of the first `others` tries. */
function createRecord(others: number) {
  const record = { revision: 1, edits: [] as string[] };
  let tries = 0;
  const edit = (ifRevision?: number) =>
    editRecord(
      () => Promise.resolve({ ...record, edits: [...record.edits] }),
      ifRevision,
      ({ revision }) => {
        tries += 1;
        if (tries <= others) {
          record.revision += 1;
          record.edits.push('other');
        }
        if (revision !== record.revision) return Promise.resolve(false);
        record.revision += 1;
        record.edits.push('own');
        return Promise.resolve(true);
      },
    );
  return { edit, record, tries: () => tries };
}

it('[ACC-3] are applied, and return the result', async () => {
  const { edit, tries } = createRecord(0);
  expect(await edit()).toEqual({ revision: 2, edits: ['own'] });
  expect(await edit(2)).toEqual({ revision: 3, edits: ['own', 'own'] });
  expect(tries()).toBe(2);
});

it('[ACC-3] are retried on top of an edit that came in between, five times at most', async () => {
  const { edit, tries } = createRecord(4);
  expect(await edit()).toEqual({ revision: 6, edits: [...Array(4).fill('other'), 'own'] });
  expect(tries()).toBe(5);
  const crowded = createRecord(5);
  await expect(crowded.edit()).rejects.toMatchObject({ code: 'busy' });
  expect([crowded.tries(), crowded.record.edits.includes('own')]).toEqual([5, false]);
});

it('[ACC-3] of another than the current revision are refused, also if it changes meanwhile', async () => {
  const refusal = (message: string) => ({ code: 'precondition_failed', message });
  const { edit, tries } = createRecord(0);
  await expect(edit(2)).rejects.toMatchObject(refusal('It is at revision 1 now'));
  expect(tries()).toBe(0);
  const crowded = createRecord(1);
  await expect(crowded.edit(1)).rejects.toMatchObject(refusal('It is at revision 2 now'));
  expect(crowded.record.edits).toEqual(['other']);
});
