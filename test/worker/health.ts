/** The health of a server as a test reads it. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect } from 'vitest';
import { monitorOf, SERVERS, type Portico, type ServerView } from './portico.ts';

export interface Health {
  state: string;
  checked_at: string | null;
  response_time_ms: number | null;
  error_rate: number | null;
  consecutive_failures: number;
  reason: string | null;
  circuit: string;
}

export interface Check {
  id: number;
  at: string;
  finding: string;
  way: string;
  reason: string | null;
}

export interface Window {
  calls: number;
  errors: number;
  error_rate: number | null;
  average_ms: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  reasons: Record<string, number>;
}

export interface History {
  checks: Check[];
  next_before: number | null;
  windows: Record<'1m' | '5m' | '1h', Window>;
}

/** The record of a server with its health. */
export async function readShown(
  portico: Portico,
  id: string,
): Promise<ServerView & { health: Health }> {
  return (await portico.api('GET', `${SERVERS}/${id}`)).json();
}

/** One round of the server's monitor, whenever it would have come. @returns its health after that */
export async function beat(portico: Portico, id: string): Promise<Health> {
  await runDurableObjectAlarm(monitorOf(id));
  return (await readShown(portico, id)).health;
}

export async function historyOf(portico: Portico, id: string, query = ''): Promise<History> {
  const response = await portico.api('GET', `${SERVERS}/${id}/health${query}`);
  expect(response.status).toBe(200);
  return response.json();
}

/** Call a tool over REST, so many times one after the other. @returns the codes of those that failed */
export async function callTool(portico: Portico, name: string, times = 1): Promise<string[]> {
  const codes: string[] = [];
  for (let i = 0; i < times; i += 1) {
    const response = await portico.api('POST', '/api/v1/tools/call', { name });
    const { code } = await response.json<{ code?: string }>();
    if (code !== undefined) codes.push(code);
  }
  return codes;
}
