/** The health of a server as a test reads it. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, vi } from 'vitest';
import {
  monitorOf,
  PATIENT,
  SERVERS,
  whenQuiet,
  type Portico,
  type ServerView,
} from './portico.ts';

export interface Health {
  state: string;
  checked_at: string | null;
  response_time_ms: number | null;
  error_rate: number | null;
  consecutive_failures: number;
  reason: string | null;
  circuit: string;
}

/** The report of an isolate in which nobody called the server. */
export const NO_REPORT = {
  generation: 1,
  calls: 0,
  errors: 0,
  totalMs: 0,
  latencies: Array.from({ length: 13 }, () => 0),
  reasons: {},
  lastGoodAt: null,
  failuresInRow: 0,
  isRowWhole: true,
};

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

/** Runs one check cycle of the server's monitor at once. @returns its health after that */
export async function beat(portico: Portico, id: string): Promise<Health> {
  await whenQuiet(id);
  await runDurableObjectAlarm(monitorOf(id));
  // The alarm may have fired by itself, and its cycle may still be running.
  await whenQuiet(id);
  return (await readShown(portico, id)).health;
}

export async function historyOf(portico: Portico, id: string, query = ''): Promise<History> {
  const response = await portico.api('GET', `${SERVERS}/${id}/health${query}`);
  expect(response.status).toBe(200);
  return response.json();
}

/** Calls a tool over REST this many times, one after the other. @returns the codes of the failed calls */
export async function callTool(portico: Portico, name: string, times = 1): Promise<string[]> {
  const codes: string[] = [];
  for (let i = 0; i < times; i += 1) {
    const response = await portico.api('POST', '/api/v1/tools/call', { name });
    const { code } = await response.json<{ code?: string }>();
    if (code !== undefined) codes.push(code);
  }
  return codes;
}

/**
 * Runs check cycles of a failing server until this many checks in a row have failed. Alarms of its own may come in between, so a count may
 * be skipped; values shown together belong together.
 * @returns status and health state by the number of failures so far
 */
export async function failTimes(
  portico: Portico,
  id: string,
  count: number,
): Promise<Map<number, [status: string, state: string]>> {
  const seen = new Map<number, [string, string]>();
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(monitorOf(id));
    const { status, health } = await readShown(portico, id);
    seen.set(health.consecutive_failures, [status, health.state]);
    expect(health.consecutive_failures).toBeGreaterThanOrEqual(count);
  }, PATIENT);
  return seen;
}
