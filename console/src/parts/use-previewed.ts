/**
 * A record is made, edited or deleted, and what that would change is shown before. Nothing is saved that was not shown so; where somebody
 * else edited it meanwhile, nothing of theirs is lost unseen, and nothing that was typed here.
 */
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import { rebase } from './rebase.ts';
import { useAct } from './use-act.ts';

interface Ports<T, V, P> {
  /** As it is where this begins; undefined: a new one is made. */
  record: T | undefined;
  /** What is typed for it, or for a new one. */
  toValues: (record: T | undefined) => V;
  /** Asks what saving would change; of no values, what deleting would. */
  preview: (values: V | undefined, base: T | undefined) => Promise<P>;
  /** Saves, where `base` is still what there is. */
  save: (values: V, base: T | undefined) => Promise<unknown>;
  /** Reads what there is now. */
  read: (base: T) => Promise<T>;
}

export function usePreviewed<T, V extends object, P>(ports: Ports<T, V, P>) {
  const { toValues } = ports;
  const [base, setBase] = useState(ports.record);
  const [values, setTyped] = useState(() => toValues(ports.record));
  const [shown, setShown] = useState<{ found: P; isDeletion: boolean }>();
  const [theirs, setTheirs] = useState<readonly string[]>();
  const { isBusy, thrown, run } = useAct();

  async function show(isDeletion: boolean): Promise<void> {
    setShown(undefined);
    const found = await ports.preview(isDeletion ? undefined : values, base);
    setShown({ found, isDeletion });
  }

  async function save(): Promise<void> {
    try {
      await ports.save(values, base);
    } catch (problem) {
      if (!base || !(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
      const now = await ports.read(base);
      const merged = rebase(toValues(base), values, toValues(now));
      setBase(now);
      setTyped(merged.values);
      setTheirs(merged.theirs.map(String));
      setShown(undefined);
    }
  }

  return {
    values,
    /** What was shown is of what was typed then. */
    change(more: Partial<V>) {
      setTyped(before => ({ ...before, ...more }));
      setShown(undefined);
    },
    shown,
    /** What others changed meanwhile, where that kept it from being saved. */
    theirs,
    isBusy,
    thrown,
    show: (isDeletion = false) => run(() => show(isDeletion)),
    save: () => run(save),
  };
}
