/** `/api/v1/skills`: the taxonomy (PRD AG-US3, FIND-3). What a skill counts are the tools its reader may use. */
import { DOT_NAMING } from '../gateway/viewer.ts';
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { ONLOOKER } from '../servers/catalog/conditions.ts';
import { countTools } from '../search/skills/count-tools.ts';
import {
  CreateSkillSchema,
  SkillViewSchema,
  toSkillView,
  UpdateSkillSchema,
} from '../search/skills/skill-schema.ts';
import type { Skill } from '../search/skills/skill.ts';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { parseIfMatch, toETag } from './etag.ts';
import {
  ACT_ERRORS,
  bodyOf,
  BODY_ERRORS,
  ETAG,
  LOCATION,
  needs,
  responsesOf,
  type Api,
  type ApiPorts,
} from './frame.ts';
import { deleteRoute, getRoute, idOf, updateRoute } from './record-routes.ts';

const PATH = '/api/v1/skills';
const tags = ['skills'];
const params = idOf('skill');
export const SkillSchema = SkillViewSchema.meta({ id: 'Skill' });
const definition = {
  id: 'invoicing',
  name: 'Invoicing',
  description: 'Write, send and follow invoices.',
  examples: ['create an invoice', 'list unpaid invoices'],
};
export const exampleSkill = {
  ...definition,
  is_seeded: false,
  tool_count: 0,
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listSkills',
  tags,
  summary: 'List skills',
  description: 'The whole taxonomy, in the order of the ids; there are 200 skills at most.',
  ...needs('tools:read'),
  responses: responsesOf(
    200,
    'The skills',
    z.object({ skills: z.array(SkillSchema), total: z.number().int() }).meta({ id: 'Skills' }),
    { errors: ['forbidden'], example: { skills: [exampleSkill], total: 1 } },
  ),
});

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createSkill',
  tags,
  summary: 'Create a skill',
  description: 'Tools are classified anew in the background.',
  ...needs('servers:write'),
  request: { body: bodyOf(CreateSkillSchema.meta({ id: 'CreateSkill' }), definition) },
  responses: responsesOf(201, 'The skill', SkillSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: { ...LOCATION, ...ETAG },
    example: exampleSkill,
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getSkill',
    tags,
    summary: 'Get a skill',
    ...needs('tools:read'),
    params,
  },
  { description: 'The skill', schema: SkillSchema, example: exampleSkill },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updateSkill',
    tags,
    summary: 'Edit a skill',
    description: 'What is absent stays. Tools are classified anew in the background.',
    ...needs('servers:write'),
    params,
  },
  {
    schema: UpdateSkillSchema.meta({ id: 'UpdateSkill' }),
    example: { description: 'Invoices and reminders.' },
  },
  {
    description: 'The skill as it is now',
    schema: SkillSchema,
    example: { ...exampleSkill, description: 'Invoices and reminders.', revision: 2 },
  },
  ['conflict'],
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteSkill',
  tags,
  summary: 'Delete a skill',
  description: 'Tools that were in it stay in the others they are in.',
  ...needs('servers:write'),
  params,
});

/** Counts the tools in each skill that a caller may use; of none where it may not list tools. */
export type CountSkills = (snapshot: Snapshot) => Promise<ReadonlyMap<string, number>>;

export function createCountSkills({ gateway, skillsOf }: ApiPorts): CountSkills {
  return async ({ caller, servers }) => {
    const viewer = { caller, visible: { servers, client: ONLOOKER }, naming: DOT_NAMING };
    const { items } = await gateway.list(viewer, 'tools');
    // A list that is remembered has the servers as they were when it was made.
    const seen = new Set(items.map(({ server }) => server.id));
    return countTools(items, await skillsOf(servers.filter(({ id }) => seen.has(id))));
  };
}

const etagOf = ({ revision }: Skill) => ({ etag: toETag(revision) });

/** Add the routes. */
export function registerSkills(api: Api, ports: ApiPorts): void {
  const { skills } = ports;
  const count = createCountSkills(ports);
  const countOf = async (snapshot: Snapshot, id: string) => (await count(snapshot)).get(id) ?? 0;
  api.openapi(list, async context => {
    const all = await skills.list(context.var.snapshot.caller);
    const counts = await count(context.var.snapshot);
    const shown = all.map(skill => toSkillView(skill, counts.get(skill.id) ?? 0));
    return context.json({ skills: shown, total: shown.length }, 200);
  });
  api.openapi(create, async context => {
    const skill = await skills.create(context.var.snapshot.caller, context.req.valid('json'));
    const headers = { location: `${PATH}/${skill.id}`, ...etagOf(skill) };
    return context.json(toSkillView(skill, 0), 201, headers);
  });
  api.openapi(get, async context => {
    const { snapshot } = context.var;
    const skill = await skills.get(snapshot.caller, context.req.valid('param').id);
    return context.json(toSkillView(skill, await countOf(snapshot, skill.id)), 200, etagOf(skill));
  });
  api.openapi(update, async context => {
    const { snapshot } = context.var;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const patch = context.req.valid('json');
    const skill = await skills.update(snapshot.caller, id, patch, ifRevision);
    return context.json(toSkillView(skill, await countOf(snapshot, skill.id)), 200, etagOf(skill));
  });
  api.openapi(remove, async context => {
    await skills.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
