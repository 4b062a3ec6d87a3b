/** `/api/v1/access/explain`: explains why a token or principal may use a tool or not. */
import { z } from 'zod';
import type { Explanation } from '../gateway/explain/explain-service.ts';
import type { Step } from '../gateway/explain/explain-steps.ts';
import { STEPS } from '../gateway/explain/step-advice.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { MAX_NAME_CHARS } from '../shared/util/name-limits.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

export const EXPLAIN_PATH = '/api/v1/access/explain';
const text = z.string().min(1).max(300);
const asked = {
  server: text.meta({ description: 'Name or id of the server' }),
  tool: z.string().min(1).max(MAX_NAME_CHARS).meta({ description: 'The tool by its own name' }),
  toolset: text.optional().meta({
    description: 'Name or id of a toolset: asks whether the tool may be used at its endpoint',
  }),
};

const ExplainSchema = z
  .union([
    z.strictObject({ token: text.meta({ description: 'Id of a token' }), ...asked }),
    z.strictObject({ principal: text.meta({ description: 'Id of a principal' }), ...asked }),
  ])
  .meta({ id: 'ExplainAccess' });

const StepSchema = z.object({
  step: z.enum(STEPS),
  passes: z.boolean().nullable().meta({ description: 'Null if it is not known now' }),
  detail: z.string(),
  rules: z.array(z.string()).meta({ description: 'Ids of the rules that decide the step' }),
});

const ExplanationSchema = z
  .object({
    is_allowed: z.boolean().meta({ description: 'Whether a call would be sent to the server now' }),
    is_listed: z.boolean().meta({ description: 'Whether lists contain the tool now' }),
    code: z.string().nullable().meta({ description: 'Error code with which a call is refused' }),
    decided_by: z.enum(STEPS).meta({
      description:
        'The first step that refuses a call; if none does, `scope_list` if the token may not list; else what allows it: a rule, or the default access ' +
        'if no rule matches',
    }),
    rule: z.string().nullable().meta({ description: 'Id of the rule that decided' }),
    rules: z.array(z.string()).meta({
      description: 'Ids of all rules that decided, if several at one level say the same',
    }),
    posture: z.enum(['open', 'closed']),
    principal: z.string(),
    groups: z.array(z.string()),
    server: z.object({ id: z.string(), name: z.string(), status: ServerStatusSchema }),
    tool: z.string(),
    is_read_only: z.boolean().nullable().meta({
      description: 'The annotation of the tool; null if the server has no such tool now',
    }),
    steps: z.array(StepSchema).meta({
      description: 'Everything that a call depends on, in order, each step decided on its own',
    }),
  })
  .meta({ id: 'AccessExplanation' });

const rule = '7b1e4f0c-52f5-4b0e-9d59-1f6c1d2a3b44';
const passing = (step: Step['step'], detail: string) => ({ step, passes: true, detail, rules: [] });

const explain = createRoute({
  method: 'post',
  path: EXPLAIN_PATH,
  operationId: 'explainAccess',
  tags: ['access'],
  summary: 'Explain a decision',
  description:
    'Says whether a token, or a principal with a token without limits, sees a tool in lists and may call it, and why. The gateway decides the request ' +
    'without sending anything to the server, and reports each step of the decision.',
  ...needs('admin'),
  request: {
    body: bodyOf(ExplainSchema, {
      principal: '3f0d5c61-8f0e-4c39-9e0c-0c1b2a3d4e5f',
      server: 'github',
      tool: 'delete_repository',
    }),
  },
  errors: ['not_found'],
  responses: responsesOf(200, 'The decision and its steps', ExplanationSchema, {
    example: {
      is_allowed: false,
      is_listed: false,
      code: 'tool_not_found',
      decided_by: 'rule',
      rule,
      rules: [rule],
      posture: 'open',
      principal: '3f0d5c61-8f0e-4c39-9e0c-0c1b2a3d4e5f',
      groups: ['interns'],
      server: { id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10', name: 'github', status: 'CONNECTED' },
      tool: 'delete_repository',
      is_read_only: false,
      steps: [
        passing('scope_call', 'Calling needs the scope tools:call'),
        { step: 'rule', passes: false, detail: 'A rule denies it', rules: [rule] },
        passing('server_status', 'The server is CONNECTED'),
      ],
    },
  }),
});

/** Adds the route. */
export function registerAccessExplain(api: Api, { explanations }: ApiPorts): void {
  api.openapi(explain, async context => {
    const { server, tool, toolset, ...whose } = context.req.valid('json');
    const { caller, servers, access } = context.var.snapshot;
    const question = { server, tool, toolset };
    const found = await explanations.explain(caller, whose, question, servers, access);
    return context.json({ ...toView(found), posture: access.defaultAccess, tool }, 200);
  });
}

function toView({ decided, server, ...found }: Explanation) {
  const { id, name, status } = server;
  return {
    is_allowed: found.isAllowed,
    is_listed: found.isListed,
    code: found.code ?? null,
    decided_by: decided.step,
    rule: decided.ruleIds[0] ?? null,
    rules: [...decided.ruleIds],
    principal: found.principalId,
    groups: [...found.groups],
    server: { id, name, status },
    is_read_only: found.isReadOnly ?? null,
    steps: found.steps.map(({ ruleIds, ...step }) => ({ ...step, rules: [...ruleIds] })),
  };
}
