/** One field of a form generated from an outside schema; its name and description are outside text. */
import type { TargetedKeyboardEvent } from 'preact';
import { useId } from 'preact/hooks';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import type { Field } from './fields.ts';

/** Most shown characters of a name. */
const MAX_NAME_CHARS = 100;

/** As in a field of one line; with Shift it begins a new line. */
function submitOnEnter(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

interface InputProps {
  field: Field;
  value: string;
  onValue: (value: string) => void;
}

export function FieldInput({ field, value, onValue }: InputProps) {
  const { name, kind, isRequired, description, options } = field;
  const id = useId();
  const common = { id, name, required: isRequired, 'aria-describedby': `${id}-about` };
  return (
    <>
      <label for={id}>
        <Foreign text={name} max={MAX_NAME_CHARS} />
        {isRequired ? '' : ' (may be empty)'}
      </label>
      {kind === 'choice' || kind === 'flag' ? (
        <select
          {...common}
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          {isRequired && kind === 'flag' ? null : <option value="" />}
          {(kind === 'flag' ? ['false', 'true'] : options).map(option => (
            <option key={option} value={option}>
              {toShown(option, MAX_NAME_CHARS)}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          {...common}
          rows={4}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      ) : kind === 'number' ? (
        <input
          {...common}
          inputMode="decimal"
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      ) : (
        <textarea
          {...common}
          class="line"
          rows={1}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
          onKeyDown={submitOnEnter}
        />
      )}
      <small id={`${id}-about`} class="foreign">
        <Foreign text={description} max={500} />
      </small>
    </>
  );
}
