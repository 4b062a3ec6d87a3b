/** A button for what cannot be undone: it says first what it will do. */
import { useRef, useState } from 'preact/hooks';
import { Problem } from './states.tsx';

interface ConfirmProps {
  /** On the button. */
  label: string;
  /** What will happen, in a sentence. */
  says: string;
  /** What somebody has to say yes to besides. */
  agrees?: string;
  isDisabled?: boolean;
  act: () => Promise<unknown>;
}

export function Confirm({ label, says, agrees, isDisabled = false, act }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [isAgreed, setAgreed] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  function open(): void {
    setAgreed(false);
    setThrown(undefined);
    dialog.current?.showModal();
  }
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
      <button type="button" class="quiet" disabled={isDisabled} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <p>{says}</p>
        {agrees === undefined ? null : (
          <label class="check">
            <input
              type="checkbox"
              checked={isAgreed}
              onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
            />
            {agrees}
          </label>
        )}
        {thrown === undefined ? null : <Problem thrown={thrown} />}
        <p class="actions">
          <button
            type="button"
            disabled={isBusy || (agrees !== undefined && !isAgreed)}
            onClick={() => void go()}
          >
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
