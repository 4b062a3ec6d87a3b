/**
 * Calls of the tool `count` (`fixtures/counting-stdio.ts`) with every end observed: each has its own key, and within a bound either ends
 * with its result or with an error that says why, or counts as a fault of the gateway. Judges one call; the test decides who calls when.
 */
import { readFile } from 'node:fs/promises';
import type { Answer, CallResult, RawClient } from './raw-client.ts';

/** Every call must end within this time. */
export const BOUND_MS = 60_000;

export interface Ended {
  key: string;
  /** `lost`: the gateway itself was not running, or went away. */
  kind: 'answered' | 'refused' | 'lost' | 'fault';
  /** What the client saw of a call that was not answered. */
  why: string;
}

/** Calls a program once. Never rejects. */
export async function count(
  client: RawClient,
  program: string,
  key: string,
  ms: number,
): Promise<Ended> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Ended>(resolve => {
    timer = setTimeout(resolve, BOUND_MS, { key, kind: 'fault', why: 'has no end' });
  });
  const calling = client.call(`${program}.count`, { key, ms }).then(
    answer => toEnded(key, answer),
    (error: unknown): Ended => ({ key, kind: 'lost', why: toText(error) }),
  );
  const ended = await Promise.race([calling, late]);
  clearTimeout(timer);
  return ended;
}

function toEnded(key: string, { status, text, message }: Answer): Ended {
  const result = message.result as CallResult | undefined;
  if (result && result.isError !== true) {
    const isOwn = status === 200 && result.content[0]?.text === `did ${key}`;
    return { key, kind: isOwn ? 'answered' : 'fault', why: text };
  }
  const reason = result?._meta?.['portico/reason'];
  const said = result ? result.content[0]?.text : message.error?.message;
  const isClear = (said ?? '') !== '' && (result === undefined || typeof reason === 'string');
  return { key, kind: isClear ? 'refused' : 'fault', why: `${status} ${text}` };
}

const toText = (error: unknown): string =>
  error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error);

/** The log of a program. */
export interface Counted {
  /** Keys in the order of their execution. */
  keys: string[];
  /** Process ids of its runs, the latest last. */
  pids: number[];
}

/** Reads the log of a program; empty if there is none. */
export async function readCounted(file: string): Promise<Counted> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const after = (mark: string) =>
    lines.filter(line => line.startsWith(mark)).map(line => line.slice(mark.length));
  return { keys: after('did '), pids: after('started ').map(Number) };
}
