/** Asks the person at the terminal what calls to approve. Questions go to standard error, since standard output is data. */
import type { CallView } from '../../../src/agents/chat/chat-events.ts';
import { withPrompter } from '../terminal.ts';
import { toQuestion } from './view.ts';

export interface Decision {
  call_id: string;
  approve: boolean;
}

/** Decides about waiting calls; returns undefined where nobody can be asked. */
export type Decide = (pending: readonly CallView[]) => Promise<Decision[] | undefined>;

/** Makes the same decision about all calls. */
export const decideAll =
  (approve: boolean): Decide =>
  async pending =>
    pending.map(({ id }) => ({ call_id: id, approve }));

export const nobody: Decide = async () => undefined;

/** Asks about one call after the other; a person who leaves has decided nothing. */
export const askPrompter: Decide = pending =>
  withPrompter(async prompter => {
    const decisions: Decision[] = [];
    for (const call of pending) {
      const said = await prompter.confirm(toQuestion(call));
      if (said === undefined) return undefined;
      decisions.push({ call_id: call.id, approve: /^y(es)?$/i.test(said.trim()) });
    }
    return decisions;
  });
