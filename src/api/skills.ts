/** `/api/v1/skills`: the taxonomy (PRD AG-US3, FIND-3). A skill's count covers only tools that the reader may use. */
import { z } from 'zod';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { DOT_NAMING } from '../gateway/viewer.ts';
import { countTools } from '../search/skills/count-tools.ts';
import {
  CreateSkillSchema,
  SkillViewSchema,
  toSkillView,
  UpdateSkillSchema,
} from '../search/skills/skill-schema.ts';
import { SKILL_SCOPES, type Skill } from '../search/skills/skill.ts';
import { ONLOOKER } from '../servers/catalog/conditions.ts';
import { hasScope } from '../shared/identity/principal.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { registerCreate, registerEdits, registerOne } from './records.ts';

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
  path: '/api/v1/skills',
  operationId: 'listSkills',
  tags: ['skills'],
  summary: 'List skills',
  description: 'The whole taxonomy, in the order of the ids; there are 200 skills at most.',
  ...needs('tools:read'),
  responses: responsesOf(
    200,
    'The skills',
    z.object({ skills: z.array(SkillSchema), total: z.number().int() }).meta({ id: 'Skills' }),
    { example: { skills: [exampleSkill], total: 1 } },
  ),
});

const described = {
  path: '/api/v1/skills',
  tag: 'skills',
  name: 'Skill',
  noun: 'skill',
  phrase: 'a skill',
  scopes: SKILL_SCOPES,
  view: SkillSchema,
  example: exampleSkill,
  delete: { description: 'Its tools stay in their other skills.' },
};

const created = {
  schema: CreateSkillSchema.meta({ id: 'CreateSkill' }),
  example: definition,
  description: 'Tools are classified again in the background.',
};

const patch = {
  schema: UpdateSkillSchema.meta({ id: 'UpdateSkill' }),
  example: { description: 'Invoices and reminders.' },
  description: 'Absent fields stay as they are. Tools are classified again in the background.',
  problems: ['conflict'] as const,
};

/** Counts the tools of each skill that a caller may use; zero for a caller that may not list tools. */
export type CountSkills = (snapshot: Snapshot) => Promise<ReadonlyMap<string, number>>;

export function createCountSkills({ gateway, skillsOf }: ApiPorts): CountSkills {
  return async ({ caller, servers }) => {
    if (!hasScope(caller, 'tools:read')) return new Map();
    const viewer = { caller, visible: { servers, client: ONLOOKER }, naming: DOT_NAMING };
    const { items } = await gateway.list(viewer, 'tools');
    // A cached list holds the servers as they were when it was made.
    const seen = new Set(items.map(({ server }) => server.id));
    return countTools(items, await skillsOf(servers.filter(({ id }) => seen.has(id))));
  };
}

/** Adds the routes. */
export function registerSkills(api: Api, ports: ApiPorts): void {
  const { skills } = ports;
  const count = createCountSkills(ports);
  const resource = {
    ...described,
    toView: async (skill: Skill, _servers: Snapshot['servers'], snapshot: Snapshot) =>
      toSkillView(skill, (await count(snapshot)).get(skill.id) ?? 0),
  };
  api.openapi(list, async context => {
    const all = await skills.listAll(context.var.snapshot.caller);
    const counts = await count(context.var.snapshot);
    const shown = all.map(skill => toSkillView(skill, counts.get(skill.id) ?? 0));
    return context.json({ skills: shown, total: shown.length }, 200);
  });
  registerCreate(api, resource, created, async (body, { caller, servers }) => {
    const record = await skills.create(caller, body, servers);
    return { record, shown: toSkillView(record, 0) };
  });
  registerOne(api, resource, skills);
  registerEdits(api, resource, patch, skills);
}
