/** The definitions picked for one decision. A definition that changed since is no longer picked. */
import { useState } from 'preact/hooks';
import type { Approval } from '../../generated/types.gen.ts';
import type { Decide } from './decisions.ts';
import { isMisleading } from './why.ts';

/** Returns the picks, each with the fingerprint it had when it was picked. */
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
    /** Removes definitions that were decided on. */
    drop(approvals: readonly Approval[]): void {
      const gone = new Set(approvals.map(({ id }) => id));
      setPicks(before => new Map([...before].filter(([id]) => !gone.has(id))));
    },
    /** Forgets all picks except the listed ones that are unchanged. */
    forget(approvals: readonly Approval[]): void {
      const kept = approvals.filter(has).map(({ id }) => [id, picks.get(id) ?? ''] as const);
      setPicks(new Map(kept));
    },
    /** The picked ones in a list, and how many picks are missing or changed there. */
    among(approvals: readonly Approval[]): { picked: Approval[]; lost: number } {
      const picked = approvals.filter(approval => has(approval) && !isMisleading(approval));
      return { picked, lost: picks.size - picked.length };
    },
  };
}
export type Picks = ReturnType<typeof usePicks>;

/** Wraps `onDecide` to remove the decided definitions from the picks. */
export const settling =
  (picks: Picks, onDecide: Decide, those: readonly Approval[]): Decide =>
  (verb, act) =>
    onDecide(verb, async () => {
      const decided = await act();
      picks.drop(those);
      return decided;
    });
