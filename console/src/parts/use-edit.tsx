/** A record is edited. Where somebody else edited it meanwhile, nothing of theirs is lost unseen, and nothing that was typed here. */
import { useQueryClient, type QueryKey } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import type { Sending } from './form.tsx';
import { rebase } from './rebase.ts';
import { useAct } from './use-act.ts';

interface EditPorts<T, V> {
  /** What people call such a record. */
  noun: string;
  /** As it is where the edit begins, whatever is shown beside it later. */
  record: T;
  toValues: (record: T) => V;
  /** Saves what is other than in `base`, where that is still what there is. */
  save: (base: T, values: V) => Promise<T>;
  /** Reads what there is now. */
  read: () => Promise<T>;
  /** What is asked for where it is shown: what is read and saved is shown there at once. */
  shownAt?: QueryKey;
  /** What else is asked for anew once it is saved. */
  stale?: readonly QueryKey[];
  cancel: NonNullable<Sending['cancel']>;
  onSaved: () => void;
}

/** What the form of the record takes, and what it is an edit of. */
export function useEdit<T, V extends object>(ports: EditPorts<T, V>) {
  const { toValues, shownAt, stale = [] } = ports;
  const cache = useQueryClient();
  const [base, setBase] = useState(ports.record);
  const [values, onValues] = useState(() => toValues(ports.record));
  const [theirs, setTheirs] = useState<readonly string[]>();
  const { isBusy, thrown, run } = useAct();
  const show = (now: T) => shownAt && cache.setQueryData(shownAt, now);

  async function send(): Promise<void> {
    setTheirs(undefined);
    try {
      show(await ports.save(base, values));
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
      const now = await ports.read();
      show(now);
      const merged = rebase(toValues(base), values, toValues(now));
      setBase(now);
      onValues(merged.values);
      setTheirs(merged.theirs.map(String));
      return;
    }
    for (const queryKey of stale) void cache.invalidateQueries({ queryKey });
    ports.onSaved();
  }

  const form = {
    values,
    onValues,
    onSend: () => run(send),
    isBusy,
    thrown,
    verb: theirs ? 'Save over it' : 'Save',
    cancel: ports.cancel,
    beside: theirs ? <Meanwhile noun={ports.noun} theirs={theirs} /> : null,
  };
  return { base, form };
}

/** Tells that somebody else changed it. */
export const Meanwhile = ({ noun, theirs }: { noun: string; theirs: readonly string[] }) => (
  <span role="alert" class="problem">
    Somebody else changed this {noun} meanwhile
    {theirs.length > 0 ? ` (${theirs.join(', ')})` : ''}. What you typed is kept; nothing is saved
    yet.
  </span>
);
