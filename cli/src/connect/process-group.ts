/**
 * Ends a child with everything it has started. A child leads a process group of its own, and signals go to that group; on a platform
 * without groups, to the child alone.
 */
import type { ChildProcess } from 'node:child_process';

const POLL_MS = 20;
/** How long the system may take to remove killed processes, in milliseconds. */
const REAP_MS = 1_000;

/** @returns whether a process was there to get the signal; signal 0 only checks */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  const { pid } = child;
  if (pid === undefined) return false;
  try {
    if (process.platform === 'win32') return signal === 0 ? isRunning(child) : child.kill(signal);
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Sends SIGTERM to the group of a child, and SIGKILL to what is left of it after `graceMs`. */
export async function endGroup(child: ChildProcess, graceMs: number): Promise<void> {
  if (!signalGroup(child, 'SIGTERM')) return;
  if (await isGone(child, graceMs)) return;
  signalGroup(child, 'SIGKILL');
  await isGone(child, REAP_MS);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Polls, since no event reports that a group is empty. */
async function isGone(child: ChildProcess, withinMs: number): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (signalGroup(child, 0)) {
    if (Date.now() >= until) return false;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  return true;
}
