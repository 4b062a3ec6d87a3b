/** A button for what cannot be undone: it says first what it will do. */
import type { ComponentChildren } from 'preact';
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
  /** To be filled in before. */
  children?: ComponentChildren;
  act: () => Promise<unknown>;
  /** It is done: put the focus where somebody goes on, where the button is gone with what it was for. */
  onDone?: () => void;
}

export function Confirm(props: ConfirmProps) {
  const { label, says, agrees, isDisabled = false, children, act, onDone } = props;
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
      onDone?.();
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
        {children}
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
