/** The processes of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program and returns the lines that it writes. */
export async function linesOf(program: string, ...args: string[]): Promise<string[]> {
  const list = spawn(program, args);
  let text = '';
  list.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await once(list, 'close');
  return text.split('\n').filter(line => line !== '');
}

/** Returns the running processes, each with its parent. */
export async function parents(): Promise<Map<number, number>> {
  const lines = await linesOf('ps', '-eo', 'pid=,ppid=,stat=');
  const rows = lines
    .map(line => line.trim().split(/\s+/))
    .filter(([, , state]) => state?.[0] !== 'Z');
  return new Map(rows.map(([pid, parent]) => [Number(pid), Number(parent)]));
}

/** Returns a process and all that it started, directly or not. */
export async function familyOf(pid: number): Promise<Set<number>> {
  const family = new Set([pid]);
  const all = [...(await parents())];
  for (const member of family) {
    for (const [id, parent] of all) if (parent === member) family.add(id);
  }
  return family;
}
