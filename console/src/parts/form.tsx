/** A form that is sent: its fields, what came of sending it, and its buttons. What was typed stays whatever the gateway answers. */
import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { Problem } from './states.tsx';

export interface FormProps {
  /** What it is, where no heading says it. */
  label?: string;
  /** Of its look, beside that of every form. */
  class?: string;
  onSend: () => void;
  isBusy: boolean;
  /** What came of sending it. */
  thrown: unknown;
  /** On the button that sends it. */
  verb: string;
  /** Where one goes, or what is done, in place of sending it. */
  cancel?: string | (() => void);
  /** Beside the buttons. */
  beside?: ComponentChildren;
  /** Its fields. */
  children: ComponentChildren;
}

/** What the form of a record is told by whoever sends it. */
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
