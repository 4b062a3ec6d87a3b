/** Concurrent edits of a record: applied at the expected revision, retried on top of another edit, or refused. */
import { expect, it } from 'vitest';
import { editRecord } from '../../../src/records/edit-with-revision.ts';
import { createPortico, SERVERS } from '../support/portico.ts';

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

it('[ACC-3] are retried on top of an edit that came in between, eight times in all', async () => {
  const { edit, tries } = createRecord(7);
  expect(await edit()).toEqual({ revision: 9, edits: [...Array(7).fill('other'), 'own'] });
  expect(tries()).toBe(8);
  const crowded = createRecord(8);
  await expect(crowded.edit()).rejects.toMatchObject({ code: 'busy' });
  expect([crowded.tries(), crowded.record.edits.includes('own')]).toEqual([8, false]);
});

it('[ACC-3] [REG-1] of one server at the same moment are all made', async () => {
  const portico = createPortico();
  const url = 'https://edited.example/mcp';
  const body = { name: 'edited', transport_type: 'HTTP', connection_config: { url } };
  const created = await portico.api('POST', SERVERS, { ...body, auto_connect: false });
  const server = await created.json<{ id: string; revision: number }>();
  const edits = Array.from({ length: 20 }, (_, at) =>
    portico.api('PATCH', `${SERVERS}/${server.id}`, { description: `edit ${at}` }),
  );
  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  const edited = await portico.api('GET', `${SERVERS}/${server.id}`);
  expect(await edited.json()).toMatchObject({ revision: server.revision + 20 });
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

it('[REG-1] [REG-4] of a server are announced to its monitor before each try', async () => {
  const portico = createPortico();
  const url = 'https://announced.example/mcp';
  const body = { name: 'announced', transport_type: 'HTTP', connection_config: { url } };
  const created = await portico.api('POST', SERVERS, { ...body, auto_connect: false });
  const path = `${SERVERS}/${(await created.json<{ id: string }>()).id}`;
  let times = 0;
  /** Others edit the server before each of the first two tries. */
  const monitor = {
    async expect() {
      times += 1;
      if (times > 2) return;
      const edited = await portico.api('PATCH', path, { description: `other ${times}` });
      expect(edited.status).toBe(200);
    },
    follow: async () => 0,
  };
  const other = createPortico({ SERVER_MONITOR: { getByName: () => monitor } as never });
  const edited = await other.api('PATCH', path, { description: 'own' });
  expect(await edited.json()).toMatchObject({ description: 'own' });
  expect(times).toBe(3);
});
