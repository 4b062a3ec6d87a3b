/** `/api/v1/access/rules`: create, list, get, edit, delete. */
import {
  CreateRuleSchema,
  RuleQuerySchema,
  RuleViewSchema,
  toRuleView,
  UpdateRuleSchema,
} from '../access/rules/rule-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerEdits, registerRecords } from './records.ts';

/** Body of a request that creates a rule. */
export const CreateAccessRule = CreateRuleSchema.meta({ id: 'CreateAccessRule' });

const created = {
  effect: 'deny',
  subject: { kind: 'group', name: 'interns' },
  tool: 'delete_*',
  description: 'Interns delete nothing',
};

const resource = {
  path: '/api/v1/access/rules',
  tag: 'access',
  name: 'AccessRule',
  noun: 'rule',
  phrase: 'an access rule',
  view: RuleViewSchema.meta({ id: 'AccessRule' }),
  example: {
    id: '7b1e4f0c-52f5-4b0e-9d59-1f6c1d2a3b44',
    server: '*',
    ...created,
    read_only: false,
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toRuleView,
  create: {
    schema: CreateAccessRule,
    example: created,
    description:
      'Rules for a principal come before rules for its groups, those before rules for everyone; at the first level where one matches, a deny outweighs every allow.',
  },
  list: {
    operationId: 'listAccessRules',
    summary: 'List access rules',
    key: 'rules',
    page: 'AccessRulePage',
    query: RuleQuerySchema,
  },
};

const patch = {
  schema: UpdateRuleSchema.meta({ id: 'UpdateAccessRule' }),
  example: { read_only: true },
  description: 'Absent fields stay as they are. The change takes effect within a second.',
};

/** Adds the routes. */
export function registerAccessRules(api: Api, { rules }: ApiPorts): void {
  registerRecords(api, resource, rules);
  registerEdits(api, resource, patch, rules);
}
