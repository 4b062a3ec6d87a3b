/** Makes decisions: keeps the outcome of the last one, and refreshes the list after each. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { isStale, type Decided, type Verb } from '../../api/approvals.ts';

export interface Outcome {
  text: string;
  isBad: boolean;
}

/** Makes a decision. If the definitions changed, nothing is decided, and the outcome says so. @throws any other error */
export type Decide = (verb: Verb, act: () => Promise<Decided>) => Promise<void>;

const DONE = {
  approve: (count: number) =>
    `${count} approved. Clients see what is approved within a second or two.`,
  reject: (count: number) =>
    `${count} rejected. Clients do not see what is rejected, and it no longer waits until it changes.`,
};
const AGAIN = 'The list is as it is now: look again at what changed.';
const NAMES = 'One of the names is misleading: approve that one alone.';

export function useDecisions() {
  const cache = useQueryClient();
  const [outcome, setOutcome] = useState<Outcome>();
  const decide: Decide = async (verb, act) => {
    setOutcome(undefined);
    const tell = (text: string, isBad: boolean) =>
      // Wait until the dialog is closed, which keeps the focus until then.
      setTimeout(() => setOutcome({ text, isBad }));
    let told: Parameters<typeof tell>;
    try {
      const { decided } = await act();
      told = [DONE[verb](decided), false];
    } catch (thrown) {
      if (!isStale(thrown)) throw thrown;
      const why = thrown.status === 409 ? NAMES : `${thrown.message}.`;
      told = [`Nothing was decided. ${why} ${AGAIN}`, true];
    }
    await cache.invalidateQueries({ queryKey: ['approvals'] });
    void cache.invalidateQueries({ queryKey: ['servers'] });
    tell(...told);
  };
  return { outcome, decide };
}
