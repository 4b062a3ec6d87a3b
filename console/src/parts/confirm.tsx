/** A button for an action that cannot be undone; a dialog first says what it will do. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Problem } from './states.tsx';
import { useHeldFocus } from './use-held-focus.ts';

interface ConfirmProps<Done> {
  /** Text of the button. */
  label: string;
  /** One sentence about what will happen. */
  says: string;
  /** Text of a checkbox that must be checked first. */
  agrees?: string;
  isDisabled?: boolean;
  /** Fields to fill in first. */
  children?: ComponentChildren;
  /** The request. What it shows belongs in `onDone`: nothing outside of an open dialog can take the focus. */
  act: () => Promise<Done>;
  /** Called with the result once the dialog is closed; must move the focus if the button disappears. */
  onDone?: (done: Done) => void;
}

export function Confirm<Done>(props: ConfirmProps<Done>) {
  const { label, says, agrees, isDisabled = false, children, act, onDone } = props;
  const [isBusy, setBusy] = useState(false);
  const dialog = useHeldFocus<HTMLDialogElement>(isBusy);
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
      const done = await act();
      dialog.current?.close();
      onDone?.(done);
    } catch (problem) {
      setThrown(problem);
      // It may have been closed meanwhile; the error has to be seen all the same.
      if (dialog.current?.open === false) dialog.current.showModal();
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
