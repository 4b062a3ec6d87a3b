/** Searches for what has a long or an odd name, and queries that name what does not exist. */
import { expect, it } from 'vitest';
import { toCallSubject } from '../../../src/audit/calls/call-schema.ts';
import { addUpAll, insertOld, toCall } from '../support/chunks.ts';
import { createPortico, register, SERVERS } from '../support/portico.ts';

const portico = createPortico();
const LONG_TOOL = `files.${'x'.repeat(800)}`;
const LONG_URI = `files+file:///${'x'.repeat(8_000)}`;
/** What follows the colon looks like the value of a secret, so rows do not have it. */
const ODD_TOOL = 'files.secretsmanager:read';
const AT = Date.now() - 3_600_000;

/** Stores a call as the gateway does. */
const storeCall = (subject: string, action = 'tool.call') =>
  insertOld(AT, [
    toCall(AT, { action, subject: toCallSubject(subject), detail: { server: 's-long' } }),
  ]);

async function get(route: string, query: Record<string, string>) {
  const response = await portico.api('GET', `/api/v1/${route}?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return response.json<Record<string, { calls?: number; done?: number }[]>>();
}

it.each([
  ['tool', LONG_TOOL, 'tool.call'],
  ['tool', ODD_TOOL, 'tool.call'],
  ['subject', LONG_URI, 'resource.read'],
  ['subject', ODD_TOOL, 'tool.call'],
])('[SEC-6] the audit finds by %s a call whose row has less of it', async (field, text, action) => {
  await storeCall(text, action);
  const query = { [field]: text, action };
  expect((await get('audit', query))['events']?.length).toBeGreaterThan(0);
  const [part] = (await get('audit/counts', query))['parts'] ?? [];
  expect(part?.done).toBeGreaterThan(0);
});

it.each([LONG_TOOL, ODD_TOOL])(
  '[OPS-7] usage finds a tool whose rows have less of its name',
  async tool => {
    await storeCall(tool);
    await addUpAll();
    const [item] = (await get('usage', { tool }))['usage'] ?? [];
    expect(item?.calls).toBeGreaterThan(0);
  },
);

it('[SEC-6] the audit accepts the longest beginning of a name', async () => {
  expect((await get('audit', { subject_prefix: LONG_URI }))['events']).toEqual([]);
});

it('[REG-8] the health of a server is refused for a query that does not exist', async () => {
  const { id } = await register(portico, 'files', { auto_connect: false });
  const statusOf = async (query: string) =>
    (await portico.api('GET', `${SERVERS}/${id}/health?${query}`)).status;
  expect([await statusOf('limit=3'), await statusOf('limt=3')]).toEqual([200, 422]);
});
