/** A button for what cannot be undone: it says first what it will do. */
import { useRef, useState } from 'preact/hooks';
import { Problem } from './states.tsx';

interface ConfirmProps {
  /** On the button. */
  label: string;
  /** What will happen, in a sentence. */
  says: string;
  act: () => Promise<unknown>;
}

export function Confirm({ label, says, act }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  async function go(): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    try {
      await act();
      dialog.current?.close();
    } catch (problem) {
      setThrown(problem);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <p>{says}</p>
        {thrown === undefined ? null : <Problem thrown={thrown} />}
        <p class="actions">
          <button type="button" disabled={isBusy} onClick={() => void go()}>
            {label}
          </button>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </dialog>
    </>
  );
}
