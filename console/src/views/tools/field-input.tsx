/** One field of a form generated from an outside schema; its name and description are outside text. */
import type { TargetedKeyboardEvent } from 'preact';
import { useId } from 'preact/hooks';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import type { Field } from './fields.ts';

/** Most shown characters of a name. */
const MAX_NAME_CHARS = 100;

/** As in a field of one line; with Shift it begins a new line. */
function submitOnEnter(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  // Safari says only by this code that the key ends a composition.
  const isComposing = event.isComposing || event.keyCode === 229;
  if (event.key !== 'Enter' || event.shiftKey || isComposing) return;
  event.preventDefault();
  // As there, nothing is sent while the button is disabled or the key is held.
  const { form } = event.currentTarget;
  if (!event.repeat) form?.querySelector<HTMLButtonElement>('[type=submit]')?.click();
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
