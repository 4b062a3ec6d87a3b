/** The form of a result cache rule, new or edited. What was typed stays, whatever the gateway responds. */
import { useState } from 'preact/hooks';
import { createCacheRule, readCacheRule, updateCacheRule } from '../../api/cache-rules.ts';
import type { CacheRule } from '../../generated/types.gen.ts';
import { Amount, messageFor, Text } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { toShown } from '../../parts/foreign.tsx';
import { ServerAndTool } from '../../parts/server-and-tool.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { useFocus } from '../../parts/use-focus.ts';

interface AddProps {
  /** Address of the list. */
  back: string;
  onSaved: () => void;
}

interface RuleValues {
  server: string;
  tool: string;
  seconds: string;
  same_for_all: boolean;
  description: string;
}

const NEW: RuleValues = {
  server: '',
  tool: '',
  seconds: '300',
  same_for_all: false,
  description: '',
};
const HINTS = { tool: 'Its name at the server, or a pattern as get_*' };

const toValues = (rule: CacheRule): RuleValues => ({
  server: rule.server,
  tool: rule.tool,
  seconds: String(rule.ttl_seconds),
  same_for_all: rule.public,
  description: rule.description,
});
const toUpdate = ({ seconds, same_for_all: isPublic, description }: RuleValues) => ({
  ttl_seconds: Number(seconds),
  public: isPublic,
  description,
});

export function AddCacheRule({ back, onSaved }: AddProps) {
  const [values, setValues] = useState(NEW);
  const { isBusy, thrown, run } = useAct();
  const save = async () => {
    const { server, tool } = values;
    await createCacheRule({ ...toUpdate(values), server: server.trim(), tool: tool.trim() });
    onSaved();
  };
  return (
    <RuleForm
      title="Add a rule"
      isNew
      values={values}
      onValues={setValues}
      onSend={() => run(save)}
      isBusy={isBusy}
      thrown={thrown}
      verb="Save"
      cancel={back}
    />
  );
}

export function EditCacheRule({ rule, back, onSaved }: AddProps & { rule: CacheRule }) {
  const { form } = useEdit({
    noun: 'rule',
    record: rule,
    toValues,
    read: () => readCacheRule(rule.id),
    save: (base, values) => updateCacheRule(base.id, toUpdate(values), base.revision),
    cancel: back,
    onSaved,
  });
  const title = `Edit the rule for ${toShown(rule.tool, 100)} of ${toShown(rule.server, 100)}`;
  return <RuleForm {...form} title={title} />;
}

interface FormProps extends Sending {
  title: string;
  /** Server and tool can be entered only for a new rule. */
  isNew?: boolean;
  values: RuleValues;
  onValues: (values: RuleValues) => void;
}

function RuleForm({ title, isNew = false, values, onValues, ...sending }: FormProps) {
  const { thrown } = sending;
  const heading = useFocus<HTMLHeadingElement>();
  const set = (more: Partial<RuleValues>) => onValues({ ...values, ...more });
  return (
    <Form {...sending}>
      <h3 ref={heading} tabIndex={-1}>
        {title}
      </h3>
      {isNew ? (
        <ServerAndTool
          server={values.server}
          tool={values.tool}
          wrong={name => messageFor(thrown, name)}
          hints={HINTS}
          onServer={server => set({ server })}
          onTool={tool => set({ tool })}
        />
      ) : null}
      <Amount
        label="Maximum age of a result in seconds"
        id="rule-seconds"
        wrong={messageFor(thrown, 'ttl_seconds')}
        hint="1 to 86,400, which is a day"
        max={86_400}
        value={values.seconds}
        onValue={seconds => set({ seconds })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={values.same_for_all}
          onChange={({ currentTarget }) => set({ same_for_all: currentTarget.checked })}
        />
        The result is the same for everybody who may call the tool
      </label>
      <Text
        label="Why"
        id="rule-why"
        wrong={messageFor(thrown, 'description')}
        rows={2}
        maxLength={2_000}
        value={values.description}
        onValue={description => set({ description })}
      />
    </Form>
  );
}
