/**
 * Creates, edits or deletes a record after a preview of the change. Nothing is saved without its preview. If somebody else edited the
 * record meanwhile, neither their changes nor what was typed here is lost unnoticed.
 */
import { useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';
import { rebase } from './rebase.ts';
import { useAct } from './use-act.ts';

interface Ports<T, V, P> {
  /** The record when the edit begins; undefined: a new one is created. */
  record: T | undefined;
  /** The form's values of the record, or of a new one. */
  toValues: (record: T | undefined) => V;
  /** Asks what saving would change; without values, what deleting would. */
  preview: (values: V | undefined, base: T | undefined) => Promise<P>;
  /** Saves, if `base` is still the current revision. */
  save: (values: V, base: T | undefined) => Promise<unknown>;
  /** Reads the current record. */
  read: (base: T) => Promise<T>;
}

export function usePreviewed<T, V extends object, P>(ports: Ports<T, V, P>) {
  const { toValues } = ports;
  const [base, setBase] = useState(ports.record);
  const [values, setTyped] = useState(() => toValues(ports.record));
  const [shown, setShown] = useState<{ found: P; isDeletion: boolean }>();
  const [theirs, setTheirs] = useState<readonly string[]>();
  const { isBusy, thrown, run, place } = useAct<HTMLButtonElement>();
  /** Counts the changes: a preview that arrives after another one is dropped. */
  const changes = useRef(0);

  async function show(isDeletion: boolean): Promise<void> {
    setShown(undefined);
    const asked = changes.current;
    const found = await ports.preview(isDeletion ? undefined : values, base);
    if (changes.current === asked) setShown({ found, isDeletion });
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
    /** The preview belongs to the former values. */
    change(more: Partial<V>) {
      changes.current += 1;
      setTyped(before => ({ ...before, ...more }));
      setShown(undefined);
    },
    shown,
    /** The fields that others changed meanwhile, if that prevented saving. */
    theirs,
    isBusy,
    thrown,
    /** For the button that saves. */
    place,
    show: (isDeletion = false) => run(() => show(isDeletion)),
    save: () => run(save),
  };
}
