/**
 * Ends a child with everything it has started: a child leads a process group of its own, and the group is what is signalled.
 * Where the platform has no groups, the child alone is.
 */
import type { ChildProcess } from 'node:child_process';

const POLL_MS = 20;
/** How long the system may take to clear away what was killed. */
const REAP_MS = 1_000;

/** @returns whether there was somebody to signal; 0 only asks */
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

/** SIGTERM to the group of a child, and SIGKILL to what is left of it after `graceMs`. */
export async function endGroup(child: ChildProcess, graceMs: number): Promise<void> {
  if (!signalGroup(child, 'SIGTERM')) return;
  if (await isGone(child, graceMs)) return;
  signalGroup(child, 'SIGKILL');
  await isGone(child, REAP_MS);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Nobody tells when a group is empty, so it is asked. */
async function isGone(child: ChildProcess, withinMs: number): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (signalGroup(child, 0)) {
    if (Date.now() >= until) return false;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  return true;
}
