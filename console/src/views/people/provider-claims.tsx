/** A provider's settings for who may sign in, and how claims are used. */
import { Field, messageFor, Select } from '../../parts/field.tsx';
import { ListField } from '../../parts/list-field.tsx';
import { findBadLine, type ProviderValues } from './provider-values.ts';

interface ClaimsProps {
  values: ProviderValues;
  onMore: (more: Partial<ProviderValues>) => void;
  thrown: unknown;
  /** The form was sent once: show errors for incomplete lines. */
  hasTried: boolean;
}

const AGES = [
  ['86400', 'A day'],
  ['604800', 'A week'],
  ['2592000', '30 days'],
  ['7776000', '90 days'],
] as const;

export function ProviderClaims({ values, onMore, thrown, hasTried }: ClaimsProps) {
  const ages: readonly (readonly [string, string])[] = AGES;
  const own = [values.max_age, `${values.max_age} seconds`] as const;
  const isListed = ages.some(([age]) => age === values.max_age);
  return (
    <>
      <Check
        label="Everybody who may sign in gets a principal; otherwise only people who are linked sign in"
        isOn={values.creates_principals}
        onToggle={isOn => onMore({ creates_principals: isOn })}
      />
      <Lines
        label="Who may sign in"
        hint="Claims as claim = value, one per line; any of the values of one claim. Empty: everybody there."
        text={values.required_claims}
        wrong={
          messageFor(thrown, 'required_claims') ??
          (hasTried ? findBadLine(values.required_claims, 'first') : undefined)
        }
        onText={text => onMore({ required_claims: text })}
      />
      <Field
        label="Claim with groups"
        wrong={messageFor(thrown, 'groups_claim')}
        hint="Its name, or its path with dots. Empty: no groups are read."
      >
        {about => (
          <input
            {...about}
            maxLength={200}
            spellcheck={false}
            value={values.groups_claim}
            onInput={({ currentTarget }) => onMore({ groups_claim: currentTarget.value })}
          />
        )}
      </Field>
      <Lines
        label="Groups by the values of that claim"
        hint="As value = group, one per line. Other values give no group."
        text={values.group_map}
        wrong={
          messageFor(thrown, 'group_map') ??
          (hasTried ? findBadLine(values.group_map, 'last') : undefined)
        }
        onText={text => onMore({ group_map: text })}
      />
      {values.kind === 'access' ? null : (
        <ListField
          label="Scopes to request"
          hint="Besides openid"
          draft={values.scopes}
          wrong={messageFor(thrown, 'scopes')}
          onDraft={scopes => onMore({ scopes })}
        />
      )}
      <Select
        label="An identity is valid after its last sign-in for"
        value={values.max_age}
        options={isListed ? ages : [...ages, own]}
        wrong={messageFor(thrown, 'max_age_seconds')}
        onValue={age => onMore({ max_age: age })}
      />
      {values.kind === 'oidc' ? (
        <Check
          label="Accept identity assertions that it signs for a program (ID-JAG)"
          isOn={values.takes_assertions}
          onToggle={isOn => onMore({ takes_assertions: isOn })}
        />
      ) : null}
    </>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  onToggle: (isOn: boolean) => void;
}

const Check = ({ label, isOn, onToggle }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isOn}
      onChange={({ currentTarget }) => onToggle(currentTarget.checked)}
    />
    {label}
  </label>
);

interface LinesProps {
  label: string;
  hint: string;
  text: string;
  wrong: string | undefined;
  onText: (text: string) => void;
}

const Lines = ({ label, hint, text, wrong, onText }: LinesProps) => (
  <Field label={label} hint={hint} wrong={wrong}>
    {about => (
      <textarea
        {...about}
        class="code"
        rows={2}
        maxLength={50_000}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    )}
  </Field>
);
