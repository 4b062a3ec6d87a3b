/** A text field with suggestions. */
import { useId } from 'preact/hooks';
import { Field } from './field.tsx';
import { toShown } from './foreign.tsx';

interface SuggestProps {
  label: string;
  value: string;
  /** Suggestions; other texts are allowed too. */
  offered: readonly string[];
  required?: boolean;
  wrong?: string | undefined;
  hint?: string;
  /** Called while typing. */
  onValue(value: string): void;
  /** Called on Enter or when the field loses the focus. */
  onDone?(value: string): void;
}

/** Browsers are slow with more options. */
const MAX_OFFERED = 100;

export function Suggest({ value, offered, required, onValue, onDone, ...about }: SuggestProps) {
  const list = useId();
  const typed = value.toLowerCase();
  const fitting = offered.filter(name => name.toLowerCase().includes(typed));
  return (
    <div class="field">
      <Field {...about}>
        {attributes => (
          <input
            {...attributes}
            list={list}
            value={value}
            required={required}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
            onBlur={({ currentTarget: at }) => onDone?.(at.value)}
            onKeyDown={({ key, currentTarget: at }) => {
              if (key === 'Enter') onDone?.(at.value);
            }}
          />
        )}
      </Field>
      <datalist id={list}>
        {[...new Set(fitting)].slice(0, MAX_OFFERED).map(name => (
          <option key={name} value={name} label={toShown(name)} />
        ))}
      </datalist>
    </div>
  );
}
