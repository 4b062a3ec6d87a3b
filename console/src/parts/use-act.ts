/** The state of an action: whether it is running, and its last error. The focus is kept while what had it is disabled. */
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { useHeldFocus } from './use-held-focus.ts';

export interface Acting<E extends HTMLElement> {
  isBusy: boolean;
  /** The last error. */
  thrown: unknown;
  /** Runs the action; an error is stored. */
  run(act: () => Promise<unknown>): void;
  /** For the element within which nothing may have the focus while it is busy. */
  place: RefObject<E>;
}

export function useAct<E extends HTMLElement>(): Acting<E> {
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  const place = useHeldFocus<E>(isBusy);
  async function go(act: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    try {
      await act();
    } catch (problem) {
      setThrown(problem);
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, thrown, run: act => void go(act), place };
}
