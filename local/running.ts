/**
 * Where the gateway that uses a data folder can be reached: `running.json` in the folder, for a second command on this machine that wants
 * to use the same gateway. Only the holder of the folder's lock writes it, and removes what a former holder left, so that nothing is ever
 * sent to a stranger on a port of a former gateway.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const FILE = 'running.json';
const LOOK_MS = 200;
/** Longest wait for one answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** Writes the file. @returns the function that removes it */
export function announce(folder: string, origin: string): () => void {
  writeFileSync(join(folder, FILE), `${JSON.stringify({ origin })}\n`, { mode: 0o600 });
  return () => withdraw(folder);
}

/** Removes the file that a former holder of the folder left. */
export function withdraw(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

/**
 * Waits until the gateway of a folder serves, and returns its origin.
 * @param isTaken whether the folder is still in use
 * @returns undefined if the folder is no longer in use, or on timeout
 */
export async function findRunning(
  folder: string,
  isTaken: () => boolean,
  timeoutMs: number,
): Promise<string | undefined> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline && isTaken()) {
    const origin = readOrigin(folder);
    const waitMs = Math.min(ANSWER_MS, Math.max(deadline - Date.now(), 0));
    if (origin !== undefined && (await isServing(origin, waitMs))) return origin;
    await pause(LOOK_MS);
  }
  return undefined;
}

function readOrigin(folder: string): string | undefined {
  try {
    const { origin } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as { origin?: unknown };
    return typeof origin === 'string' && URL.canParse(origin) ? origin : undefined;
  } catch {
    return undefined;
  }
}

const isServing = (origin: string, waitMs: number) =>
  fetch(`${origin}/health`, { signal: AbortSignal.timeout(waitMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
