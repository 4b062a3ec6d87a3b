/**
 * A secret that the gateway tells once. It is in the memory of whoever shows it until it is put away, and nowhere else: in no address, no
 * cache of answers, no storage. The focus goes to it.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from './field.tsx';

interface ShownOnceProps {
  /** What it is. */
  label: string;
  value: string;
  /** What to do with it, in a sentence. */
  says: string;
  /** Lines that are seen of it at once. */
  rows?: number;
  /** It is put away: forget it, and put the focus where somebody goes on. */
  onDone: () => void;
}

const OUTCOMES = {
  copied: 'Copied.',
  selected: 'The browser does not let it be copied here. It is selected: copy it by the keyboard.',
} as const;

export function ShownOnce({ label, value, says, rows = 2, onDone }: ShownOnceProps) {
  const text = useRef<HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState<keyof typeof OUTCOMES>();
  useEffect(() => text.current?.select(), [value]);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      setOutcome('copied');
    } catch {
      text.current?.select();
      setOutcome('selected');
    }
  }
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
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" class="quiet" onClick={onDone}>
          I have it
        </button>
        <span role="status">{outcome && OUTCOMES[outcome]}</span>
      </p>
    </section>
  );
}
