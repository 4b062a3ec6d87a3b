/** Imports and exports over REST, for the tests of both. */
import { expect } from 'vitest';
import { createPortico, SERVERS, type Portico } from './portico.ts';

export const IMPORT = '/api/v1/aggregator/import';
export const EXPORT = '/api/v1/aggregator/export';
/** A value that must not be visible anywhere. */
export const CANARY = 'canary-7c1f02';
export const portico: Portico = createPortico();

export interface Entry {
  given_name: string;
  name: string;
  path: string;
  action: string;
  server_id?: string;
  reasons: string[];
  problems: { field: string; message: string }[];
  secrets: string[];
}

export const url = (host: string) => `https://${host}.example.com/mcp`;
export const send = (file: unknown, query = '') => portico.api('POST', `${IMPORT}?${query}`, file);

/** Imports a file, which must succeed; returns the outcome of each entry. */
export async function take(file: unknown, query = ''): Promise<Entry[]> {
  const response = await send(file, query);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.not.stringContaining(CANARY)]);
  return (JSON.parse(text) as { entries: Entry[] }).entries;
}

export async function serversOf(): Promise<Record<string, unknown>[]> {
  const response = await portico.api('GET', SERVERS);
  return (await response.json<{ servers: Record<string, unknown>[] }>()).servers;
}

export async function deleteServers(): Promise<void> {
  for (const { id } of await serversOf()) await portico.api('DELETE', `${SERVERS}/${String(id)}`);
}

export const actions = (entries: Entry[]) => entries.map(({ name, action }) => `${name} ${action}`);
