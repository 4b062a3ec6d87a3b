/** Searches for what has a long name, and queries that name what does not exist. */
import { expect, it } from 'vitest';
import { createPortico, register, SERVERS } from '../support/portico.ts';

const portico = createPortico();
const LONG_TOOL = `files.${'x'.repeat(800)}`;
const LONG_URI = `files+file:///${'x'.repeat(8_000)}`;

it.each([
  ['audit', 'tool', LONG_TOOL],
  ['audit', 'subject', LONG_URI],
  ['audit', 'subject_prefix', LONG_URI],
  ['audit/counts', 'tool', LONG_TOOL],
  ['usage', 'tool', LONG_TOOL],
])('[SEC-6] [OPS-7] %s finds by %s what has the longest name', async (route, field, text) => {
  const query = new URLSearchParams({ [field]: text });
  expect((await portico.api('GET', `/api/v1/${route}?${query}`)).status).toBe(200);
});

it('[REG-8] the health of a server is refused for a query that does not exist', async () => {
  const { id } = await register(portico, 'files', { auto_connect: false });
  const statusOf = async (query: string) =>
    (await portico.api('GET', `${SERVERS}/${id}/health?${query}`)).status;
  expect([await statusOf('limit=3'), await statusOf('limt=3')]).toEqual([200, 422]);
});
