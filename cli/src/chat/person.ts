/** The person at the terminal: what it wants to say next, and what it decides about calls. Asked on standard error; standard output is data. */
import { createInterface, type Interface } from 'node:readline/promises';
import type { CallView } from '../../../src/chat/chat-events.ts';
import { toQuestion } from './view.ts';

export interface Decision {
  call_id: string;
  approve: boolean;
}

/** Decides about calls that wait; undefined where nobody can be asked. */
export type Decide = (pending: readonly CallView[]) => Promise<Decision[] | undefined>;

/** Decides alike about all. */
export const decideAll =
  (approve: boolean): Decide =>
  async pending =>
    pending.map(({ id }) => ({ call_id: id, approve }));

export const nobody: Decide = async () => undefined;

/** Asks about one call after the other; whoever leaves has decided nothing. */
export const askPerson: Decide = async pending => {
  const decisions: Decision[] = [];
  for (const call of pending) {
    const said = await askLine(toQuestion(call));
    if (said === undefined) return undefined;
    decisions.push({ call_id: call.id, approve: /^y(es)?$/i.test(said.trim()) });
  }
  return decisions;
};

/** One line that the person writes; undefined where it ends its input or presses Ctrl-C. */
export async function askLine(question: string): Promise<string | undefined> {
  const lines: Interface = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: true,
  });
  try {
    const { promise: gone, resolve } = Promise.withResolvers<undefined>();
    lines.once('close', () => resolve(undefined));
    lines.once('SIGINT', () => resolve(undefined));
    return await Promise.race([lines.question(question), gone]);
  } finally {
    lines.close();
  }
}
