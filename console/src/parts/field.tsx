/** A form field with its label, error and hint, which screen readers read with it. */
import type { ComponentChildren, Ref } from 'preact';
import { useId } from 'preact/hooks';
import { ApiProblem } from '../api/request.ts';

interface AboutProps {
  /** Set where a style or a test needs a fixed id. */
  id?: string;
  label: string;
  wrong?: string | undefined;
  hint?: string;
}

interface FieldProps extends AboutProps {
  /** Renders the input with these attributes. */
  children: (about: Record<string, string | boolean>) => ComponentChildren;
}

export function Field({ id: given, label, wrong, hint, children }: FieldProps) {
  const own = useId();
  const id = given ?? own;
  const described = [wrong && `${id}-wrong`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(wrong ? { 'aria-invalid': 'true' } : {}),
        ...(described ? { 'aria-describedby': described } : {}),
      })}
      {wrong ? (
        <p id={`${id}-wrong`} class="wrong">
          {wrong}
        </p>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

interface SelectProps<T extends string> extends AboutProps {
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  onValue: (value: T) => void;
}

/** A choice of a few options. */
export function Select<T extends string>({ value, options, onValue, ...about }: SelectProps<T>) {
  return (
    <Field {...about}>
      {attributes => (
        <select
          {...attributes}
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value as T)}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface TextProps extends AboutProps {
  value: string;
  /** Set for a field of several lines. */
  rows?: number;
  type?: 'password' | 'url' | 'date';
  /** Ref to the single-line input, to focus it. */
  inputRef?: Ref<HTMLInputElement>;
  isRequired?: boolean;
  maxLength?: number;
  /** Not prose: no spell checking. */
  isCode?: boolean;
  onValue: (value: string) => void;
}

/** A text field, on one or several lines. */
export function Text(props: TextProps) {
  const {
    value,
    rows,
    type,
    inputRef,
    isRequired,
    maxLength,
    isCode = false,
    onValue,
    ...about
  } = props;
  const shared = {
    value,
    required: isRequired,
    maxLength,
    spellcheck: isCode ? false : undefined,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onValue(currentTarget.value),
  };
  return (
    <Field {...about}>
      {attributes =>
        rows === undefined ? (
          <input
            {...attributes}
            {...shared}
            ref={inputRef ?? null}
            type={type}
            autocomplete={type === 'password' ? 'new-password' : undefined}
          />
        ) : (
          <textarea {...attributes} {...shared} class={isCode ? 'code' : undefined} rows={rows} />
        )
      }
    </Field>
  );
}

interface AmountProps extends AboutProps {
  /** The text as typed. */
  value: string;
  max: number;
  onValue: (value: string) => void;
}

/** A whole number from 1 up. */
export const Amount = ({ value, max, onValue, ...about }: AmountProps) => (
  <Field {...about}>
    {attributes => (
      <input
        {...attributes}
        type="number"
        required
        min={1}
        max={max}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    )}
  </Field>
);

/** The API's message for a field or a part of it. @param names of the field in the API */
export function messageFor(thrown: unknown, ...names: readonly string[]): string | undefined {
  if (!(thrown instanceof ApiProblem)) return undefined;
  const isOf = (field: string) =>
    names.some(name => field === name || field.startsWith(`${name}.`));
  return thrown.fields.find(({ field }) => isOf(field))?.message;
}
