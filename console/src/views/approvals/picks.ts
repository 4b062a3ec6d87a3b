/** What somebody picked to decide on at once. A definition that changed since is not what was picked. */
import { useState } from 'preact/hooks';
import type { Approval } from '../../generated/types.gen.ts';
import type { Decide } from './decisions.ts';
import { isMisleading } from './why.ts';

/** What is picked, each as it was when somebody picked it. */
export function usePicks() {
  const [picks, setPicks] = useState<ReadonlyMap<string, string>>(new Map());
  const has = ({ id, held_fingerprint: held }: Approval) => held !== null && picks.get(id) === held;
  return {
    has,
    pick({ id, held_fingerprint: held }: Approval, isPicked: boolean): void {
      setPicks(before => {
        const after = new Map(before);
        if (isPicked && held !== null) after.set(id, held);
        else after.delete(id);
        return after;
      });
    },
    /** Those were decided on. */
    drop(approvals: readonly Approval[]): void {
      const gone = new Set(approvals.map(({ id }) => id));
      setPicks(before => new Map([...before].filter(([id]) => !gone.has(id))));
    },
    /** Forget all but those of a list that are still what was picked. */
    forget(approvals: readonly Approval[]): void {
      const kept = approvals.filter(has).map(({ id }) => [id, picks.get(id) ?? ''] as const);
      setPicks(new Map(kept));
    },
    /** Those of a list, and how many are not in it as they were picked. */
    among(approvals: readonly Approval[]): { picked: Approval[]; lost: number } {
      const picked = approvals.filter(approval => has(approval) && !isMisleading(approval));
      return { picked, lost: picks.size - picked.length };
    },
  };
}
export type Picks = ReturnType<typeof usePicks>;

/** What was decided on is picked no more. */
export const settling =
  (picks: Picks, onDecide: Decide, those: readonly Approval[]): Decide =>
  (verb, act) =>
    onDecide(verb, async () => {
      const decided = await act();
      picks.drop(those);
      return decided;
    });
