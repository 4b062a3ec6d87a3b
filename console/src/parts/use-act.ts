/** The state of an action: whether it is running, and its last error. */
import { useState } from 'preact/hooks';

export interface Acting {
  isBusy: boolean;
  /** The last error. */
  thrown: unknown;
  /** Runs the action; an error is stored. */
  run(act: () => Promise<unknown>): void;
}

export function useAct(): Acting {
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
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
  return { isBusy, thrown, run: act => void go(act) };
}
