/** The form of a toolset, new or edited. What was typed stays whatever the gateway answers. */
import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { groupsQuery } from '../../api/people.ts';
import { Field, messageFor, Select } from '../../parts/field.tsx';
import { ListField } from '../../parts/list-field.tsx';
import { Problem } from '../../parts/states.tsx';
import type { ToolsetValues } from './form-values.ts';
import { Overrides } from './overrides.tsx';
import { Picker } from './picker.tsx';

interface FormProps {
  values: ToolsetValues;
  /** Somebody typed something else. */
  onChange: (more: Partial<ToolsetValues>) => void;
  onSend: () => void;
  isBusy: boolean;
  thrown: unknown;
  /** Beside the button. */
  children: ComponentChildren;
}

export function ToolsetForm({
  values,
  onChange: set,
  onSend,
  isBusy,
  thrown,
  children,
}: FormProps) {
  const wrong = (path: string) => messageFor(thrown, path, `toolset.${path}`);
  return (
    <form
      class="form toolset-form"
      aria-label="Toolset"
      autocomplete="off"
      onSubmit={event => {
        event.preventDefault();
        onSend();
      }}
    >
      <Field
        label="Name"
        wrong={wrong('name')}
        hint="It is part of the URL: letters, digits, - and _"
      >
        {about => (
          <input
            {...about}
            required
            maxLength={63}
            spellcheck={false}
            value={values.name}
            onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Description" wrong={wrong('description')}>
        {about => (
          <textarea
            {...about}
            rows={2}
            maxLength={2000}
            value={values.description}
            onInput={({ currentTarget }) => set({ description: currentTarget.value })}
          />
        )}
      </Field>
      <Picker include={values.include} onInclude={include => set({ include })} />
      <ListField
        label="What is in it"
        draft={values.include}
        wrong={wrong('include')}
        hint="What was picked, and patterns as github.get_*: * stands for any characters"
        onDraft={include => set({ include })}
      />
      <ListField
        label="What is left out all the same"
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
          ['', 'what the deployment says'],
          ['all', 'the tools themselves'],
          ['search', 'three tools that find, describe and call them'],
          ['ask', 'one tool that is asked in words'],
          ['chat', 'one tool that is asked in words, in a chat'],
        ]}
        onValue={shown => set({ shown })}
      />
      <Select
        label="How names are written"
        value={values.style}
        options={[
          ['', 'as the deployment says'],
          ['dot', 'server.tool'],
          ['colon', 'server:tool'],
          ['underscore', 'server__tool'],
        ]}
        onValue={style => set({ style })}
      />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <p class="actions">
        <button type="submit" disabled={isBusy}>
          Show what changes
        </button>
        {children}
      </p>
    </form>
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
          ['all', 'whoever may use its tools'],
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
            <p class="hint">And {principals.length} people who were named over the API.</p>
          ) : null}
        </>
      ) : null}
    </>
  );
}
