/** A record is edited. Where somebody else edited it meanwhile, nothing of theirs is lost unseen, and nothing that was typed here. */
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import { rebase } from './rebase.ts';
import { useAct } from './use-act.ts';

interface EditPorts<T, V> {
  /** As it is where the edit begins, whatever is shown beside it later. */
  record: T;
  toValues: (record: T) => V;
  /** Saves what is other than in `base`, where that is still what there is. */
  save: (base: T, values: V) => Promise<unknown>;
  /** Reads what there is now. */
  read: () => Promise<T>;
}

export function useEdit<T, V extends object>({ record, toValues, save, read }: EditPorts<T, V>) {
  const [base, setBase] = useState(record);
  const [values, setValues] = useState(() => toValues(record));
  const [theirs, setTheirs] = useState<readonly string[]>();
  const { isBusy, thrown, run } = useAct();

  async function send(typed: V): Promise<void> {
    setTheirs(undefined);
    try {
      await save(base, typed);
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
      const now = await read();
      const merged = rebase(toValues(base), typed, toValues(now));
      setBase(now);
      setValues(merged.values);
      setTheirs(merged.theirs.map(String));
    }
  }

  return {
    base,
    values,
    setValues,
    isBusy,
    thrown,
    /** What others changed meanwhile, where that kept it from being saved. */
    theirs,
    send: (typed: V = values) => run(() => send(typed)),
  };
}

/** Tells that somebody else changed it. */
export const Meanwhile = ({ noun, theirs }: { noun: string; theirs: readonly string[] }) => (
  <span role="alert" class="problem">
    Somebody else changed this {noun} meanwhile
    {theirs.length > 0 ? ` (${theirs.join(', ')})` : ''}. What you typed is kept; nothing is saved
    yet.
  </span>
);
