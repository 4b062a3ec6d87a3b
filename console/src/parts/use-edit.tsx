/** Edits a record. If somebody else edited it meanwhile, neither their changes nor what was typed here is lost unnoticed. */
import { useQueryClient, type QueryKey } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import type { Sending } from './form.tsx';
import { rebase } from './rebase.ts';
import { useAct } from './use-act.ts';

interface EditPorts<T, V> {
  /** What people call such a record. */
  noun: string;
  /** The record when the edit begins; later changes of this prop are ignored. */
  record: T;
  toValues: (record: T) => V;
  /** Saves what differs from `base`, if that is still the current revision. */
  save: (base: T, values: V) => Promise<T>;
  /** Reads the current record. */
  read: () => Promise<T>;
  /** Query key of the displayed record; what is read or saved is put there at once. */
  shownAt?: QueryKey;
  /** Further query keys to refresh after saving. */
  stale?: readonly QueryKey[];
  cancel: NonNullable<Sending['cancel']>;
  onSaved: () => void;
}

/** Returns the props of the record's form, and the record that is edited. */
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

/** Reports that somebody else changed the record. */
export const Meanwhile = ({ noun, theirs }: { noun: string; theirs: readonly string[] }) => (
  <span role="alert" class="problem">
    Somebody else changed this {noun} meanwhile
    {theirs.length > 0 ? ` (${theirs.join(', ')})` : ''}. What you typed is kept; nothing is saved
    yet.
  </span>
);
