/** The skills of a server's tools, for administrators: list with confidence and reason, correct by hand, classify again. */
import { z } from 'zod';
import {
  AssignmentViewSchema,
  CorrectToolSchema,
  toAssignmentView,
} from '../search/skills/skill-schema.ts';
import { bodyOf, createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const PATH = '/api/v1/aggregator/servers/{id}';
const tags = ['skills'];
const params = idOf('server');
const toolParams = params.extend({
  tool: z.string().min(1).max(1_000).meta({ description: 'The name at its server' }),
});
const ToolSkillsSchema = AssignmentViewSchema.meta({ id: 'ToolSkills' });
const example = {
  tool: 'create_issue',
  skills: [
    { id: 'issue_tracking', confidence: 0.91 },
    { id: 'code_management', confidence: 0.55 },
  ],
  primary_skill_id: 'issue_tracking',
  is_classified: true,
  reason: null,
  source: 'embedded',
};

const list = createRoute({
  method: 'get',
  path: `${PATH}/skills`,
  operationId: 'listToolSkills',
  tags,
  summary: 'List the skills of the tools of a server',
  description: 'By the names of the tools. A tool that was not classified yet is missing.',
  ...needs('servers:read'),
  request: { params },
  responses: responsesOf(
    200,
    'The tools that were classified',
    z
      .object({ tools: z.array(ToolSkillsSchema), total: z.number().int() })
      .meta({ id: 'ToolSkillsOfServer' }),
    { example: { tools: [example], total: 1 } },
  ),
});

const correct = createRoute({
  method: 'put',
  path: `${PATH}/tools/{tool}/skills`,
  operationId: 'correctToolSkills',
  tags,
  summary: 'Put a tool into skills by hand',
  description: 'It stays in them even if its definition changes. The first is the primary one.',
  ...needs('servers:write'),
  request: {
    params: toolParams,
    body: bodyOf(CorrectToolSchema.meta({ id: 'CorrectTool' }), { skill_ids: ['issue_tracking'] }),
  },
  responses: responsesOf(200, 'The skills of the tool now', ToolSkillsSchema, {
    example: {
      ...example,
      skills: [{ id: 'issue_tracking', confidence: 1 }],
      source: 'hand',
    },
  }),
});

const withdraw = createRoute({
  method: 'delete',
  path: `${PATH}/tools/{tool}/skills`,
  operationId: 'withdrawToolSkills',
  tags,
  summary: 'Withdraw a correction',
  description: 'The tool is classified again.',
  ...needs('servers:write'),
  request: { params: toolParams },
  responses: responsesOf(204, 'Withdrawn'),
});

const classify = createRoute({
  method: 'post',
  path: `${PATH}/classify`,
  operationId: 'classifyTools',
  tags,
  summary: 'Classify the tools of a server again',
  description: 'In the background. What was corrected by hand stays.',
  ...needs('servers:write'),
  request: { params },
  responses: responsesOf(204, 'It begins with the next check cycle of its monitor'),
});

/** Adds the routes. */
export function registerToolSkills(api: Api, { corrections }: ApiPorts): void {
  api.openapi(list, async context => {
    const { id } = context.req.valid('param');
    const found = await corrections.list(context.var.snapshot.caller, id);
    return context.json({ tools: found.map(toAssignmentView), total: found.length }, 200);
  });
  api.openapi(correct, async context => {
    const { id, tool } = context.req.valid('param');
    const { skill_ids: skillIds } = context.req.valid('json');
    const corrected = await corrections.correct(context.var.snapshot.caller, id, tool, skillIds);
    return context.json(toAssignmentView(corrected), 200);
  });
  api.openapi(withdraw, async context => {
    const { id, tool } = context.req.valid('param');
    await corrections.withdraw(context.var.snapshot.caller, id, tool);
    return context.body(null, 204);
  });
  api.openapi(classify, async context => {
    await corrections.classify(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
