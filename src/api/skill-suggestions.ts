/**
 * `/api/v1/skills/suggestions`: suggestions for missing skills, and the decisions on them (PRD AG-US3-AC8). Registered before
 * `/api/v1/skills/{id}`.
 */
import { z } from 'zod';
import { RecordPositionSchema } from '../records/record-schema.ts';
import {
  ApproveSuggestionSchema,
  MergeSuggestionSchema,
  SuggestionViewSchema,
  toSkillView,
  toSuggestionView,
} from '../search/skills/skill-schema.ts';
import { SUGGESTION_STATES } from '../search/skills/skill.ts';
import { bodyOf, createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { createCountSkills, exampleSkill, SkillSchema } from './skills.ts';
import { wholeText } from './whole-text.ts';

const PATH = '/api/v1/skills/suggestions';
const tags = ['skills'];
const params = idOf('suggestion');
const example = {
  id: 'invoicing',
  name: 'Invoicing',
  description: 'Write and send invoices.',
  state: 'pending',
  skill_id: null,
  tools: [{ server_id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10', tool: 'create_invoice' }],
  tool_count: 1,
  similar: [{ skill_id: 'finance', similarity: 0.61 }],
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listSkillSuggestions',
  tags,
  summary: 'List suggested skills',
  description:
    'The newest first, page by page. Names and descriptions are made from untrusted texts.',
  ...needs('servers:write'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(['any', ...SUGGESTION_STATES]).default('pending'),
    }),
  },
  responses: responsesOf(
    200,
    'One page',
    pageOf('suggestions', SuggestionViewSchema.meta({ id: 'SkillSuggestion' }), 'SuggestionPage'),
    { example: { suggestions: [example], total: 1 } },
  ),
});

const approve = createRoute({
  method: 'post',
  path: `${PATH}/{id}/approve`,
  operationId: 'approveSkillSuggestion',
  tags,
  summary: 'Make a skill from a suggestion',
  description: 'Fields of the body replace what was suggested.',
  ...needs('servers:write'),
  request: {
    params,
    body: bodyOf(ApproveSuggestionSchema.meta({ id: 'ApproveSuggestion' }), {
      description: 'Write, send and follow invoices.',
    }),
  },
  errors: ['conflict'],
  responses: responsesOf(200, 'The skill', SkillSchema, { example: exampleSkill }),
});

const merge = createRoute({
  method: 'post',
  path: `${PATH}/{id}/merge`,
  operationId: 'mergeSkillSuggestion',
  tags,
  summary: 'Merge a suggestion into an existing skill',
  description: 'Its name becomes one of the examples of that skill.',
  ...needs('servers:write'),
  request: {
    params,
    body: bodyOf(MergeSuggestionSchema.meta({ id: 'MergeSuggestion' }), { skill_id: 'finance' }),
  },
  errors: ['conflict'],
  responses: responsesOf(200, 'The skill', SkillSchema, { example: exampleSkill }),
});

const reject = createRoute({
  method: 'post',
  path: `${PATH}/{id}/reject`,
  operationId: 'rejectSkillSuggestion',
  tags,
  summary: 'Reject a suggestion',
  description: 'It is not suggested again.',
  ...needs('servers:write'),
  request: { params },
  errors: ['conflict'],
  responses: responsesOf(204, 'Rejected'),
});

/** Adds the routes. */
export function registerSkillSuggestions(api: Api, ports: ApiPorts): void {
  const { suggestions } = ports;
  const count = createCountSkills(ports);
  api.openapi(list, async context => {
    const { limit, cursor, state } = context.req.valid('query');
    const bound = ['skill-suggestions', state];
    const after = await positionOf(bound, cursor, RecordPositionSchema);
    const wanted = state === 'any' ? undefined : state;
    const page = await suggestions.list(context.var.snapshot.caller, wanted, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(item => toSuggestionView(item, page.similar.get(item.id) ?? []));
    return context.json({ suggestions: shown, ...more, total: page.total }, 200);
  });
  api.openapi(approve, async context => {
    const { caller } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const skill = await suggestions.approve(caller, id, wholeText(context.req.valid('json')));
    return context.json(toSkillView(skill, 0), 200);
  });
  api.openapi(merge, async context => {
    const { snapshot } = context.var;
    const { id } = context.req.valid('param');
    const { skill_id: skillId } = context.req.valid('json');
    const skill = await suggestions.merge(snapshot.caller, id, skillId);
    return context.json(toSkillView(skill, (await count(snapshot)).get(skillId) ?? 0), 200);
  });
  api.openapi(reject, async context => {
    await suggestions.reject(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
