/** Searches of the audit for calls that are rare among many: no request reads all chunks, and none of the calls is missed. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { toCallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import { toTimeId } from '../../../src/shared/util/time-id.ts';
import { insertOld, toCall } from '../support/chunks.ts';
import { createPortico } from '../support/portico.ts';

const { DB } = env;
const portico = createPortico();
const START = Date.now() - 3_600_000;
/** More than one request opens. */
const CHUNKS = 1_200;
const WANTED = 'tool=git.push&outcome=denied';

beforeEach(async () => {
  await DB.prepare('DELETE FROM call_chunks').run();
});

/** Many chunks that name what is wanted, though no call in them is that; and one such call before them, and one after. */
async function writeChunks(): Promise<string[]> {
  const wanted = [START - 60_000, START + 60_000].map(at => toCall(at, { outcome: 'denied' }));
  const [first, last] = wanted;
  if (first && last) {
    await insertOld(first.at, [first]);
    await insertOld(last.at, [last]);
  }
  const others = [toCall(START), toCall(START, { subject: 'git.pull', outcome: 'denied' })];
  const { calls, keys, hash, body } = await toCallChunk(toTimeId(START), others);
  const placed = Array.from({ length: CHUNKS }, (_, n) => [toTimeId(START + n), START + n]);
  await DB.prepare(
    `INSERT INTO call_chunks
     SELECT value ->> 0, value ->> 1, value ->> 1, ?, ?, ?, ? FROM json_each(?)`,
  )
    .bind(calls, keys, hash, body, JSON.stringify(placed))
    .run();
  return wanted.map(({ id }) => id);
}

it('[SEC-6] [SEC-9] a search reads a bounded number of chunks, and the next page goes on', async () => {
  const [first, last] = await writeChunks();
  const pages: string[][] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const response = await portico.api('GET', `/api/v1/audit?${WANTED}${more}`);
    const page = await response.json<{ events: { id: string }[]; next_cursor?: string }>();
    pages.push(page.events.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  expect(pages).toEqual([[last], [first]]);
});

it('[SEC-6] an export has all rows that match, however many others are among them', async () => {
  const wanted = await writeChunks();
  const response = await portico.api('GET', `/api/v1/audit/export?${WANTED}`);
  const lines = (await response.text()).trim().split('\n');
  expect(lines.map(line => (JSON.parse(line) as { id: string }).id)).toEqual(wanted);
});
