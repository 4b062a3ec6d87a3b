/**
 * Where the gateway that has a data folder can be reached: `running.json` in the folder, for a second command on this machine that
 * wants to join it. Only who holds the folder's lock writes it, and removes what a former holder left, so that nothing is ever sent
 * to a stranger who took a former port.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const FILE = 'running.json';
const LOOK_MS = 200;

/** @returns the function that takes it back */
export function announce(folder: string, origin: string): () => void {
  writeFileSync(join(folder, FILE), `${JSON.stringify({ origin })}\n`, { mode: 0o600 });
  return () => withdraw(folder);
}

/** Remove what a former holder of the folder left. */
export function withdraw(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

/**
 * The origin of the gateway that has a folder, once it serves.
 * @param isTaken whether somebody has the folder still
 * @returns undefined where nobody has it any more, or the time is over
 */
export async function findRunning(
  folder: string,
  isTaken: () => boolean,
  timeoutMs: number,
): Promise<string | undefined> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline && isTaken()) {
    const origin = readOrigin(folder);
    if (origin !== undefined && (await isServing(origin))) return origin;
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

const isServing = (origin: string) =>
  fetch(`${origin}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
