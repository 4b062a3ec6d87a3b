/** The form values of a rule, and the request bodies made from them. Pure. */
import type { AccessRule, CreateAccessRule } from '../../generated/types.gen.ts';

export interface RuleValues {
  effect: AccessRule['effect'];
  kind: AccessRule['subject']['kind'];
  group: string;
  /** Name or id of a principal. */
  principal: string;
  server: string;
  tool: string;
  isReadOnly: boolean;
  description: string;
}

/** A principal with a known name. */
export interface Named {
  id: string;
  name: string;
}

const NEW: RuleValues = {
  effect: 'allow',
  kind: 'group',
  group: '',
  principal: '',
  server: '',
  tool: '*',
  isReadOnly: false,
  description: '',
};

/** @param whose the principal of the rule, if known */
export function valuesOf(rule: AccessRule | undefined, whose: Named | undefined): RuleValues {
  if (!rule) return NEW;
  const { effect, subject, server, tool, read_only: isReadOnly, description } = rule;
  const id = subject.kind === 'principal' ? subject.id : '';
  return {
    effect,
    kind: subject.kind,
    group: subject.kind === 'group' ? subject.name : '',
    principal: id === whose?.id ? whose.name : id,
    server,
    tool,
    isReadOnly,
    description,
  };
}

/** @param principal id, for a rule for one principal */
export function toRule(values: RuleValues, principal: string): CreateAccessRule {
  const { effect, kind, group, server, tool, isReadOnly, description } = values;
  const subjects = {
    everyone: { kind: 'everyone' },
    group: { kind: 'group', name: group.trim() },
    principal: { kind: 'principal', id: principal },
  } as const;
  return {
    effect,
    subject: subjects[kind],
    server: server.trim(),
    tool: tool.trim(),
    read_only: isReadOnly,
    description,
  };
}
