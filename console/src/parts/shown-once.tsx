/**
 * Shows a secret that the gateway returns only once. It is only in the memory of this component until it is dismissed: in no address, no
 * query cache, no storage. It takes the focus.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Field } from './field.tsx';
import { useCopy } from './use-copy.ts';

interface ShownOnceProps {
  /** Accessible name. */
  label: string;
  value: string;
  /** One sentence about what to do with it. */
  says: string;
  /** Visible lines. */
  rows?: number;
  /** Called when it is dismissed; must forget the value and move the focus. */
  onDone: () => void;
}

export function ShownOnce({ label, value, says, rows = 2, onDone }: ShownOnceProps) {
  const text = useRef<HTMLTextAreaElement>(null);
  const [told, copy] = useCopy(value, () => text.current?.select());
  useLayoutEffect(() => text.current?.select(), [value]);
  return (
    <section class="shown-once notice" aria-label={label}>
      <Field label={label} hint={`${says} It is not shown again.`}>
        {about => (
          <textarea
            {...about}
            ref={text}
            class="code"
            rows={rows}
            readOnly
            spellcheck={false}
            value={value}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        )}
      </Field>
      <p class="actions">
        <button type="button" onClick={copy}>
          Copy
        </button>
        <button type="button" class="quiet" onClick={onDone}>
          I have it
        </button>
        <span role="status">{told}</span>
      </p>
    </section>
  );
}
