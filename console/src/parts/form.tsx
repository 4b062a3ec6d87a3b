/**
 * A form: its fields, the error of the last attempt, and its buttons. What was typed stays, whatever the gateway
 * responds; while it is saved nothing can be typed, since that would not be saved.
 */
import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { Problem } from './states.tsx';
import { useHeldFocus } from './use-held-focus.ts';

export interface FormProps {
  /** Accessible name, if there is no heading. */
  label?: string;
  /** An additional CSS class. */
  class?: string;
  onSend: () => void;
  isBusy: boolean;
  /** Input is taken while it is busy: what comes back is dropped then. */
  takesInput?: boolean;
  /** The error of the last attempt. */
  thrown: unknown;
  /** Text of the submit button. */
  verb: string;
  /** Where to go, or what to do, on cancel. */
  cancel?: string | (() => void);
  /** Shown beside the buttons. */
  beside?: ComponentChildren;
  /** The fields. */
  children: ComponentChildren;
}

/** Props that the parent of a record's form passes to it. */
export type Sending = Omit<FormProps, 'label' | 'class' | 'children'>;

export function Form(props: FormProps) {
  const { label, class: look, onSend, isBusy, thrown, verb, cancel, beside, children } = props;
  const { takesInput = false } = props;
  // While it is busy, its fields and button cannot have the focus.
  const form = useHeldFocus<HTMLFormElement>(isBusy);
  return (
    <form
      ref={form}
      class={look === undefined ? 'form' : `form ${look}`}
      aria-label={label}
      autocomplete="off"
      onSubmit={event => {
        event.preventDefault();
        onSend();
      }}
    >
      <div inert={isBusy && !takesInput}>{children}</div>
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <p class="actions">
        <button type="submit" disabled={isBusy}>
          {verb}
        </button>
        {cancel === undefined ? null : <Cancel to={cancel} />}
        {beside}
      </p>
    </form>
  );
}

const Cancel = ({ to }: { to: string | (() => void) }) =>
  typeof to === 'string' ? (
    <Link class="button quiet" href={to}>
      Cancel
    </Link>
  ) : (
    <button type="button" class="quiet" onClick={to}>
      Cancel
    </button>
  );
