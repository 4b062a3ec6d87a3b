/** The form of a principal, new or edited. What was typed stays whatever the gateway answers. */
import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Me } from '../../api/me.ts';
import { groupsQuery } from '../../api/people.ts';
import { Field, messageFor, Select } from '../../parts/field.tsx';
import { ListField } from '../../parts/list-field.tsx';
import { Problem } from '../../parts/states.tsx';
import type { PrincipalValues } from './principal-values.ts';
import { ScopeChoice } from './scope-choice.tsx';
import { scopesToGive } from './scopes.ts';

interface FormProps {
  me: Me;
  values: PrincipalValues;
  onValues: (values: PrincipalValues) => void;
  onSend: () => void;
  isBusy: boolean;
  /** What came of sending it. */
  thrown: unknown;
  /** On the button. */
  label: string;
  /** It is opened within a page, so the focus goes to it. */
  takesFocus?: boolean;
  /** Beside the button. */
  children?: ComponentChildren;
}

export function PrincipalForm(props: FormProps) {
  const { me, values, onValues, onSend, isBusy, thrown, label, takesFocus, children } = props;
  const first = useRef<HTMLInputElement>(null);
  const groups = useQuery(groupsQuery()).data?.groups ?? [];
  useEffect(() => {
    if (takesFocus) first.current?.focus();
  }, [takesFocus]);
  const set = (more: Partial<PrincipalValues>) => onValues({ ...values, ...more });
  return (
    <form
      class="form"
      autocomplete="off"
      onSubmit={event => {
        event.preventDefault();
        onSend();
      }}
    >
      <Field
        label="Name"
        wrong={messageFor(thrown, 'name')}
        hint="Of a person, or of a program that calls by itself"
      >
        {about => (
          <input
            {...about}
            ref={first}
            required
            maxLength={100}
            spellcheck={false}
            value={values.name}
            onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          />
        )}
      </Field>
      <ListField
        label="Groups"
        draft={values.groups}
        offered={groups.map(({ name }) => name)}
        wrong={messageFor(thrown, 'groups')}
        hint="Enter adds one. A group exists once somebody is in it or a rule is for it."
        onDraft={draft => set({ groups: draft })}
      />
      <Select
        label="The most its tokens may do"
        value={values.isBound ? 'bound' : 'own'}
        options={[
          ['own', 'What each of them is given'],
          ['bound', 'No more than this'],
        ]}
        onValue={choice => set({ isBound: choice === 'bound' })}
      />
      {values.isBound ? (
        <ScopeChoice
          label="No more than"
          offered={scopesToGive(me)}
          value={values.scopes}
          wrong={messageFor(thrown, 'scopes')}
          onValue={scopes => set({ scopes })}
        />
      ) : null}
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <p class="actions">
        <button type="submit" disabled={isBusy}>
          {label}
        </button>
        {children}
      </p>
    </form>
  );
}
