/** `/api/v1/cache/rules`: for which tools cached results may be returned. Create, list, get, edit, delete. */
import {
  CacheRuleQuerySchema,
  CacheRuleViewSchema,
  CreateCacheRuleSchema,
  toCacheRuleView,
  UpdateCacheRuleSchema,
} from '../servers/cache-rules/cache-rule-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerEdits, registerRecords } from './records.ts';

const created = { server: 'weather', tool: 'get_*', ttl_seconds: 300, public: true };

const resource = {
  path: '/api/v1/cache/rules',
  tag: 'cache',
  name: 'CacheRule',
  noun: 'rule',
  phrase: 'a rule of the result cache',
  view: CacheRuleViewSchema.meta({ id: 'CacheRule' }),
  example: {
    id: '1c9d2f34-8a1b-4e57-9d7a-5b1f0c2e6a77',
    ...created,
    description: 'The forecast is made anew every hour',
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toCacheRuleView,
  create: {
    schema: CreateCacheRuleSchema.meta({ id: 'CreateCacheRule' }),
    example: created,
    description:
      'Results of a tool are cached only if a rule covers the tool and the tool is annotated readOnlyHint. A rule with the exact ' +
      'name of a tool outweighs patterns; of several patterns the most cautious applies: private before public, short before long.',
  },
  list: {
    operationId: 'listCacheRules',
    summary: 'List the rules of the result cache',
    key: 'rules',
    page: 'CacheRulePage',
    query: CacheRuleQuerySchema,
  },
};

const patch = {
  schema: UpdateCacheRuleSchema.meta({ id: 'UpdateCacheRule' }),
  example: { ttl_seconds: 60 },
  description:
    'Absent fields stay as they are. The change takes effect within a second; results cached under the rule are no longer used.',
};

/** Adds the routes. */
export function registerCacheRules(api: Api, { cacheRules }: ApiPorts): void {
  registerRecords(api, resource, cacheRules);
  registerEdits(api, resource, patch, cacheRules);
}
