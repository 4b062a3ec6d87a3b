/** Usage while more calls wait to be added up than a request waits for. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createPortico } from '../support/portico.ts';
import { addUpAll, insertOld, toCall } from '../support/chunks.ts';
import { withValueLimit } from '../support/database.ts';

const { DB } = env;
const chain = () => env.CALL_CHAIN.getByName('all');
const portico = createPortico();
const HOUR_MS = 3_600_000;
/** A part has this many calls. */
const PART = 5_000;
const CHUNKS = 30;
const CALLS = 500;

beforeEach(async () => {
  for (const table of ['call_chunks', 'call_seals', 'usage', 'usage_open']) {
    await DB.prepare(`DELETE FROM ${table}`).run();
  }
  await DB.prepare(`UPDATE usage_progress SET chunk_id = ''`).run();
  await runInDurableObject(chain(), async (_chain, { storage }) => {
    storage.sql.exec('DELETE FROM seals');
    await storage.deleteAlarm();
  });
});

/** Three parts of calls. @returns when each chunk was stored */
async function writeCalls(): Promise<number[]> {
  const start = Date.now() - HOUR_MS;
  const times = Array.from({ length: CHUNKS }, (_, n) => start + n * 1_000);
  for (const at of times) {
    await insertOld(
      at,
      Array.from({ length: CALLS }, (_, n) => toCall(at - n)),
    );
  }
  return times;
}

it('[OPS-7] adds up many calls of different tools with long names', async () => {
  const at = Date.now() - HOUR_MS;
  const [principalId, tokenId, server] = [
    crypto.randomUUID(),
    crypto.randomUUID(),
    crypto.randomUUID(),
  ];
  // As many as one part may have, each with a row of its own in the sums.
  const CALLS_OF_PART = 6_000;
  const TEN = 10;
  for (let n = 0; n < TEN; n += 1) {
    const calls = Array.from({ length: CALLS_OF_PART / TEN }, (_, i) =>
      toCall(at, {
        principalId,
        tokenId,
        subject: `git.${n}-${i}`.padEnd(200, 'x'),
        detail: { server, duration_ms: 3 },
      }),
    );
    await insertOld(at + n, calls);
  }
  await addUpAll(withValueLimit(DB));
  const sums = 'SELECT sum(calls) AS calls, count(*) AS tools FROM usage';
  expect(await DB.prepare(sums).first()).toEqual({ calls: CALLS_OF_PART, tools: CALLS_OF_PART });
});

/** From now on no request has time for a second part: each reading of the clock advances it by a second. */
function hurry(): void {
  // Ahead, so that no alarm fires by itself.
  let now = Date.now() + 24 * HOUR_MS;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 1_000));
  onTestFinished(() => clock.mockRestore());
}

async function look(): Promise<{ calls: number; until: number }> {
  const response = await portico.api('GET', '/api/v1/usage?by=tool');
  const page = await response.json<{ usage: { calls: number }[]; counted_until: string }>();
  const calls = page.usage.reduce((sum, item) => sum + item.calls, 0);
  return { calls, until: Date.parse(page.counted_until) };
}

it('[OPS-7] reports until when it has counted, and the object continues by itself', async () => {
  const times = await writeCalls();
  hurry();
  expect(await look()).toEqual({ calls: PART, until: times[PART / CALLS] });
  expect(await look()).toEqual({ calls: 2 * PART, until: times[(2 * PART) / CALLS] });
  expect(await runDurableObjectAlarm(chain())).toBe(true);
  const all = await look();
  expect(all.calls).toBe(3 * PART);
  expect(all.until).toBeGreaterThan(times.at(-1) ?? Number.NaN);
});

/** The first row of the exported table. */
async function exportTable(): Promise<{ calls: number; until: number }> {
  const response = await portico.api('GET', '/api/v1/usage/export?by=tool');
  expect(response.status).toBe(200);
  const [heading = [], row = []] = (await response.text())
    .split('\r\n')
    .map(line => line.split(','));
  const valueOf = (name: string) => row[heading.indexOf(name)] ?? '';
  return { calls: Number(valueOf('calls')), until: Date.parse(valueOf('counted_until')) };
}

it('[OPS-7] exports a table of all calls, and the export waits for them', async () => {
  const times = await writeCalls();
  hurry();
  const table = await exportTable();
  expect(table.calls).toBe(3 * PART);
  expect(table.until).toBeGreaterThan(times.at(-1) ?? Number.NaN);
});

it('[OPS-7] a table reports until when it has counted, if the rest cannot be added up', async () => {
  const times = await writeCalls();
  hurry();
  await look();
  const fail = `BEGIN SELECT RAISE(ABORT, 'not yet'); END`;
  await DB.prepare(`CREATE TRIGGER not_yet BEFORE UPDATE ON usage_progress ${fail}`).run();
  onTestFinished(async () => void (await DB.prepare('DROP TRIGGER not_yet').run()));
  expect(await exportTable()).toEqual({ calls: PART, until: times[PART / CALLS] });
});
