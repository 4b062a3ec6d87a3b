/** A form: its fields, the error of the last attempt, and its buttons. What was typed stays, whatever the gateway responds. */
import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { Problem } from './states.tsx';

export interface FormProps {
  /** Accessible name, if there is no heading. */
  label?: string;
  /** An additional CSS class. */
  class?: string;
  onSend: () => void;
  isBusy: boolean;
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
  return (
    <form
      class={look === undefined ? 'form' : `form ${look}`}
      aria-label={label}
      autocomplete="off"
      onSubmit={event => {
        event.preventDefault();
        onSend();
      }}
    >
      {children}
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
