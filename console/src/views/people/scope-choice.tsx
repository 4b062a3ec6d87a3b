/** The scopes of a token, or the most that a principal's tokens may have. */
import { useId } from 'preact/hooks';
import { SCOPE_WORDS, type Scope } from './scopes.ts';

interface ScopeChoiceProps {
  label: string;
  /** The selectable scopes. */
  offered: readonly Scope[];
  value: readonly Scope[];
  wrong?: string | undefined;
  onValue: (scopes: Scope[]) => void;
}

export function ScopeChoice({ label, offered, value, wrong, onValue }: ScopeChoiceProps) {
  const id = useId();
  const toggle = (scope: Scope) =>
    onValue(value.includes(scope) ? value.filter(each => each !== scope) : [...value, scope]);
  return (
    <fieldset class="choices" aria-describedby={wrong ? id : undefined}>
      <legend>{label}</legend>
      {offered.map(scope => (
        <label key={scope} class="check">
          <input type="checkbox" checked={value.includes(scope)} onChange={() => toggle(scope)} />
          <span>
            {SCOPE_WORDS[scope]} <code>{scope}</code>
          </span>
        </label>
      ))}
      {wrong ? (
        <p id={id} class="wrong">
          {wrong}
        </p>
      ) : null}
    </fieldset>
  );
}
