/** The form of a rule, new or edited. What was typed stays, whatever the gateway responds. */
import { useQuery } from '@tanstack/preact-query';
import { groupsQuery } from '../../api/people.ts';
import { principalsNamed } from '../../api/suggestions.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { ServerAndTool } from '../../parts/server-and-tool.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import type { RuleValues } from './form-values.ts';

interface FormProps extends Omit<Sending, 'verb'> {
  values: RuleValues;
  /** Called with the changed fields. */
  onChange: (more: Partial<RuleValues>) => void;
}

const HINTS = {
  server: 'A name, or a pattern: * stands for every server',
  tool: 'A name, or a pattern as get_*: * stands for any characters. * alone is everything of the server, resources and prompts too',
};

export function RuleForm({ values, onChange: set, ...sending }: FormProps) {
  const wrong = (...names: string[]) =>
    messageFor(sending.thrown, ...names.flatMap(name => [name, `rule.${name}`]));
  const groups = useQuery(groupsQuery()).data?.groups ?? [];
  const principals = useQuery(principalsNamed(values.principal)).data?.principals ?? [];
  return (
    <Form {...sending} label="Rule" verb="Show what changes">
      <Select
        id="rule-effect"
        label="What it does"
        value={values.effect}
        options={[
          ['allow', 'Allows'],
          ['deny', 'Denies'],
        ]}
        onValue={effect => set({ effect })}
      />
      <Select
        id="rule-kind"
        label="For"
        value={values.kind}
        options={[
          ['everyone', 'everyone'],
          ['group', 'a group'],
          ['principal', 'one person or program'],
        ]}
        onValue={kind => set({ kind })}
      />
      {values.kind === 'group' ? (
        <Suggest
          label="Group"
          value={values.group}
          offered={groups.map(({ name }) => name)}
          required
          wrong={wrong('subject')}
          onValue={group => set({ group })}
        />
      ) : null}
      {values.kind === 'principal' ? (
        <Suggest
          label="Who"
          value={values.principal}
          offered={principals.map(({ name }) => name)}
          required
          wrong={wrong('subject')}
          onValue={principal => set({ principal })}
        />
      ) : null}
      <ServerAndTool
        server={values.server}
        tool={values.tool}
        toolLabel="Tools"
        takesAll
        wrong={wrong}
        hints={HINTS}
        onServer={server => set({ server })}
        onTool={tool => set({ tool })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={values.isReadOnly}
          onChange={({ currentTarget }) => set({ isReadOnly: currentTarget.checked })}
        />
        Only tools that their server annotates as read-only
      </label>
      <Text
        label="Why there is this rule"
        wrong={wrong('description')}
        rows={2}
        maxLength={2000}
        value={values.description}
        onValue={description => set({ description })}
      />
    </Form>
  );
}
