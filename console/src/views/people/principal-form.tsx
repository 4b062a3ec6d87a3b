/** The form of a principal, new or edited. What was typed stays, whatever the gateway responds. */
import { useQuery } from '@tanstack/preact-query';
import type { Me } from '../../api/me.ts';
import { groupsQuery } from '../../api/people.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { ListField } from '../../parts/list-field.tsx';
import type { PrincipalValues } from './principal-values.ts';
import { ScopeChoice } from './scope-choice.tsx';
import { scopesToGive } from './scopes.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface FormProps extends Sending {
  me: Me;
  values: PrincipalValues;
  onValues: (values: PrincipalValues) => void;
  /** The form opens within a page, so it takes the focus. */
  takesFocus?: boolean;
}

export function PrincipalForm(props: FormProps) {
  const { me, values, onValues, takesFocus = false, ...sending } = props;
  const { thrown } = sending;
  const first = useFocus<HTMLInputElement>(undefined, takesFocus);
  const groups = useQuery(groupsQuery()).data?.groups ?? [];
  const set = (more: Partial<PrincipalValues>) => onValues({ ...values, ...more });
  return (
    <Form {...sending}>
      <Text
        label="Name"
        wrong={messageFor(thrown, 'name')}
        hint="Of a person, or of a program that makes calls on its own"
        inputRef={first}
        isRequired
        maxLength={100}
        value={values.name}
        onValue={name => set({ name })}
        isCode
      />
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
          ['own', 'Only the scopes of each token count'],
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
    </Form>
  );
}
