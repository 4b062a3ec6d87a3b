/** The form of a toolset, new or edited. What was typed stays, whatever the gateway responds. */
import { useQuery } from '@tanstack/preact-query';
import { groupsQuery } from '../../api/people.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { ListField } from '../../parts/list-field.tsx';
import type { ToolsetValues } from './form-values.ts';
import { Overrides } from './overrides.tsx';
import { Picker } from './picker.tsx';

interface FormProps extends Omit<Sending, 'verb'> {
  values: ToolsetValues;
  /** Called with the changed fields. */
  onChange: (more: Partial<ToolsetValues>) => void;
}

export function ToolsetForm({ values, onChange: set, ...sending }: FormProps) {
  const wrong = (path: string) => messageFor(sending.thrown, path, `toolset.${path}`);
  return (
    <Form {...sending} label="Toolset" class="toolset-form" verb="Show what changes">
      <Text
        label="Name"
        wrong={wrong('name')}
        hint="It is part of the URL: letters, digits, - and _"
        isRequired
        maxLength={63}
        value={values.name}
        onValue={name => set({ name })}
        isCode
      />
      <Text
        label="Description"
        wrong={wrong('description')}
        rows={2}
        maxLength={2000}
        value={values.description}
        onValue={description => set({ description })}
      />
      <Picker include={values.include} onInclude={include => set({ include })} />
      <ListField
        label="What is in it"
        draft={values.include}
        wrong={wrong('include')}
        hint="What was picked, and patterns as github.get_*: * stands for any characters"
        onDraft={include => set({ include })}
      />
      <ListField
        label="What is left out anyway"
        draft={values.exclude}
        wrong={wrong('exclude')}
        hint="Patterns as *.delete_*"
        onDraft={exclude => set({ exclude })}
      />
      <Overrides
        overrides={values.overrides}
        picked={values.include.items}
        wrongOf={wrong}
        onOverrides={overrides => set({ overrides })}
      />
      <Members values={values} wrong={wrong('members')} onValues={set} />
      <Select
        label="Its endpoint lists"
        value={values.shown}
        options={[
          ['', 'what the deployment is configured for'],
          ['all', 'the tools themselves'],
          ['search', 'three tools that find, describe and call them'],
          ['ask', 'one tool that answers requests in words'],
          ['chat', 'one tool that answers requests in words, as a chat'],
        ]}
        onValue={shown => set({ shown })}
      />
      <Select
        label="How names are written"
        value={values.style}
        options={[
          ['', 'as the deployment is configured'],
          ['dot', 'server.tool'],
          ['colon', 'server:tool'],
          ['underscore', 'server__tool'],
        ]}
        onValue={style => set({ style })}
      />
    </Form>
  );
}

interface MembersProps {
  values: ToolsetValues;
  wrong: string | undefined;
  onValues: (more: Partial<ToolsetValues>) => void;
}

function Members({ values, wrong, onValues }: MembersProps) {
  const groups = useQuery(groupsQuery()).data?.groups ?? [];
  const { isForSome, principals } = values;
  return (
    <>
      <Select
        label="Who may use it"
        value={isForSome ? 'some' : 'all'}
        options={[
          ['all', 'everybody who may use its tools'],
          ['some', 'these groups only, and administrators'],
        ]}
        onValue={value => onValues({ isForSome: value === 'some' })}
      />
      {isForSome ? (
        <>
          <ListField
            label="Groups that may use it"
            draft={values.groups}
            offered={groups.map(({ name }) => name)}
            wrong={wrong}
            onDraft={draft => onValues({ groups: draft })}
          />
          {principals.length > 0 ? (
            <p class="hint">And {principals.length} people who were added through the API.</p>
          ) : null}
        </>
      ) : null}
    </>
  );
}
