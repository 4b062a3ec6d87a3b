/** A text field that offers what there is while one types. */
import { useId } from 'preact/hooks';
import { toShown } from './foreign.tsx';

interface SuggestProps {
  label: string;
  value: string;
  /** What is offered; a text that is not among it may be typed too. */
  offered: readonly string[];
  required?: boolean;
  /** While somebody types. */
  onValue(value: string): void;
  /** Somebody pressed Enter or went on. */
  onDone?(value: string): void;
}

/** Browsers are slow with more. */
const MAX_OFFERED = 100;

export function Suggest({ label, value, offered, required, onValue, onDone }: SuggestProps) {
  const id = useId();
  const typed = value.toLowerCase();
  const fitting = offered.filter(name => name.toLowerCase().includes(typed));
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        list={`${id}-list`}
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
      <datalist id={`${id}-list`}>
        {[...new Set(fitting)].slice(0, MAX_OFFERED).map(name => (
          <option key={name} value={name} label={toShown(name)} />
        ))}
      </datalist>
    </p>
  );
}
