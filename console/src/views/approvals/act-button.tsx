/** A button for what is done at once; what went wrong stands beside it. */
import { useState } from 'preact/hooks';
import { Problem } from '../../parts/states.tsx';

interface ActButtonProps {
  label: string;
  isQuiet?: boolean;
  isDisabled?: boolean;
  act: () => Promise<unknown>;
}

export function ActButton({ label, isQuiet = false, isDisabled = false, act }: ActButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  async function go(): Promise<void> {
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
  return (
    <>
      <button
        type="button"
        class={isQuiet ? 'quiet' : undefined}
        disabled={isDisabled || isBusy}
        onClick={() => void go()}
      >
        {label}
      </button>
      {thrown === undefined ? null : <Problem thrown={thrown} />}
    </>
  );
}
