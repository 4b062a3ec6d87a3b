/** Sets a budget, or changes its number of calls. What was typed stays, whatever the gateway responds. */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { createBudget, readBudget, updateBudget } from '../../api/budgets.ts';
import { findOnlyPrincipal, groupsQuery } from '../../api/people.ts';
import { principalsNamed } from '../../api/suggestions.ts';
import type { Budget } from '../../generated/types.gen.ts';
import { Amount, messageFor, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { useSubjectName } from './subject-name.ts';

const MAX_CALLS = 1_000_000_000;
const KINDS = [
  ['group', 'Everybody in a group together'],
  ['principal', 'One person or program'],
] as const;

interface FormProps {
  /** Address of the list. */
  back: string;
  onSaved: () => void;
}

export function AddBudget({ back, onSaved }: FormProps) {
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>('group');
  const [name, setName] = useState('');
  const [calls, setCalls] = useState('1000');
  const { isBusy, thrown, run } = useAct();
  const groups = useQuery(groupsQuery()).data?.groups ?? [];
  const principals = useQuery({ ...principalsNamed(name), enabled: kind === 'principal' }).data;
  const known = kind === 'group' ? groups : (principals?.principals ?? []);
  async function save(): Promise<void> {
    const called = name.trim();
    const subject =
      kind === 'group'
        ? { kind, name: called }
        : { kind, id: (await findOnlyPrincipal(called)).id };
    await createBudget({ subject, calls_per_day: Number(calls) });
    onSaved();
  }
  return (
    <>
      <Heading back={[back, 'All budgets']}>Set a budget</Heading>
      <Form onSend={() => run(save)} isBusy={isBusy} thrown={thrown} verb="Set it" cancel={back}>
        <Select label="Whose" value={kind} options={KINDS} onValue={setKind} />
        <Suggest
          label={kind === 'group' ? 'Group' : 'Name, or id'}
          wrong={messageFor(thrown, 'subject')}
          value={name}
          offered={known.map(each => each.name)}
          required
          onValue={setName}
        />
        <Calls value={calls} thrown={thrown} onValue={setCalls} />
      </Form>
    </>
  );
}

export function EditBudget({ budget, back, onSaved }: FormProps & { budget: Budget }) {
  const name = useSubjectName(budget) ?? '…';
  const { form } = useEdit({
    noun: 'budget',
    record: budget,
    toValues: ({ calls_per_day: calls }) => ({ calls: String(calls) }),
    read: () => readBudget(budget.id),
    save: (base, { calls }) => updateBudget(base.id, Number(calls), base.revision),
    cancel: back,
    onSaved,
  });
  const { values, onValues, ...sending } = form;
  return (
    <>
      <Heading back={[back, 'All budgets']}>
        Budget of <Foreign text={name} max={100} />
      </Heading>
      <Form {...sending}>
        <Calls
          value={values.calls}
          thrown={sending.thrown}
          onValue={calls => onValues({ calls })}
        />
      </Form>
    </>
  );
}

interface CallsProps {
  value: string;
  thrown: unknown;
  onValue: (calls: string) => void;
}

const Calls = ({ value, thrown, onValue }: CallsProps) => (
  <Amount
    label="Calls a day"
    wrong={messageFor(thrown, 'calls_per_day')}
    hint="Calls of today already count"
    max={MAX_CALLS}
    value={value}
    onValue={onValue}
  />
);
