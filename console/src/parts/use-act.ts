/** Something is asked of the gateway: whether it is under way, and what went wrong. */
import { useState } from 'preact/hooks';

export interface Acting {
  isBusy: boolean;
  /** What went wrong the last time. */
  thrown: unknown;
  /** Does it; what it throws is kept. */
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
