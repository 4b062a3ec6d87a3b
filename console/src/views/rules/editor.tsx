/** Creates, edits or deletes a rule after a preview of who gains and loses what. */
import { useQueryClient } from '@tanstack/preact-query';
import { ApiProblem } from '../../api/request.ts';
import {
  createRule,
  deleteRule,
  previewRule,
  readRule,
  updateRule,
} from '../../api/access-rules.ts';
import { principalsCalled } from '../../api/suggestions.ts';
import type { AccessRule, CreateAccessRule } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Preview } from '../../parts/preview.tsx';
import { toSentence } from '../../parts/rule-words.ts';
import { Meanwhile } from '../../parts/use-edit.tsx';
import { usePreviewed } from '../../parts/use-previewed.ts';
import { toRule, valuesOf, type Named, type RuleValues } from './form-values.ts';
import { RuleForm } from './form.tsx';

interface EditorProps {
  /** Absent: a new rule is created. */
  rule?: AccessRule;
  /** The principal, for a rule for one principal. */
  whose?: Named | undefined;
  /** Called when it is saved or deleted. */
  onDone: (says: string) => void;
}

/** Finds the id for a name or an id. @throws ApiProblem where several principals have the name */
async function idOf(typed: string, whose: Named | undefined): Promise<string> {
  if (typed === whose?.name) return whose.id;
  const found = await principalsCalled(typed.trim());
  if (found.length < 2) return found[0]?.id ?? typed.trim();
  const message = `${found.length} have this name: give an id instead of the name`;
  throw new ApiProblem(422, { detail: message, errors: [{ field: 'subject', message }] });
}

export const ALL_RULES = ['/rules', 'All rules'] as const;

export function RuleEditor({ rule, whose, onDone }: EditorProps) {
  const cache = useQueryClient();
  const toBody = async (values: RuleValues): Promise<CreateAccessRule> =>
    toRule(values, values.kind === 'principal' ? await idOf(values.principal, whose) : '');
  const done = (says: string) => {
    onDone(says);
    cache.removeQueries({ queryKey: ['rules'] });
  };
  const edit = usePreviewed({
    record: rule,
    toValues: record => valuesOf(record, whose),
    preview: async (values: RuleValues | undefined, base) =>
      previewRule({
        ...(values && { rule: await toBody(values) }),
        ...(base && { replaces: base.id }),
      }),
    save: async (values, base) => {
      const body = await toBody(values);
      await (base ? updateRule(base.id, body, base.revision) : createRule(body));
      done('The rule is saved. It takes effect within a second.');
    },
    read: ({ id }) => readRule(id),
  });
  const { shown, theirs, isBusy, place } = edit;
  return (
    <>
      <Heading back={ALL_RULES}>
        {rule ? (
          <Foreign text={toSentence(rule, whose?.name ?? 'somebody who was deleted')} max={400} />
        ) : (
          'Add a rule'
        )}
      </Heading>
      <RuleForm
        values={edit.values}
        onChange={edit.change}
        onSend={() => edit.show()}
        isBusy={isBusy}
        takesInput={!shown}
        thrown={edit.thrown}
        cancel="/rules"
        beside={
          <>
            {rule ? (
              <button type="button" class="quiet" disabled={isBusy} onClick={() => edit.show(true)}>
                Show what deleting it changes
              </button>
            ) : null}
            {theirs ? <Meanwhile noun="rule" theirs={theirs} /> : null}
          </>
        }
      />
      {shown ? (
        <Preview
          title={shown.isDeletion ? 'What deleting it changes' : 'What saving it changes'}
          found={shown.found}
          nothing="It changes nothing for anybody, of what servers offer now."
        >
          {shown.isDeletion ? (
            <Confirm
              label="Delete the rule"
              says="The rule is gone for good, and what is shown here changes within a second."
              act={() => deleteRule(rule?.id ?? '')}
              onDone={() => done('The rule is deleted. That takes effect within a second.')}
            />
          ) : (
            <button ref={place} type="button" disabled={isBusy} onClick={() => edit.save()}>
              {theirs ? 'Save over it' : 'Save the rule'}
            </button>
          )}
        </Preview>
      ) : null}
    </>
  );
}
