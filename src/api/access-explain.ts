/** `/api/v1/access/explain`: why somebody may use a tool or not. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { bodyOf, BODY_ERRORS, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const text = z.string().min(1).max(300);
const asked = {
  server: text.meta({ description: 'Name or id of the server' }),
  tool: text.meta({ description: 'The tool by its own name' }),
};

const ExplainSchema = z
  .union([
    z.strictObject({ token: text.meta({ description: 'Id of a token' }), ...asked }),
    z.strictObject({ principal: text.meta({ description: 'Id of a principal' }), ...asked }),
  ])
  .meta({ id: 'ExplainAccess' });

const ExplanationSchema = z
  .object({
    is_allowed: z.boolean(),
    decided_by: z
      .enum(['rule', 'posture', 'token_servers', 'token_tools', 'token_toolsets'])
      .meta({ description: 'A rule, the posture where none matches, or a limit of the token' }),
    rule: z.string().nullable().meta({ description: 'Id of the rule that decided' }),
    posture: z.enum(['open', 'closed']),
    principal: z.string(),
    groups: z.array(z.string()),
    server: z.object({ id: z.string(), name: z.string() }),
    tool: z.string(),
    is_read_only: z.boolean().nullable().meta({
      description: 'As the tool is annotated; null where the server has no such tool now',
    }),
  })
  .meta({ id: 'AccessExplanation' });

const explain = createRoute({
  method: 'post',
  path: '/api/v1/access/explain',
  operationId: 'explainAccess',
  tags: ['access'],
  summary: 'Explain a decision',
  description:
    'Says why a token, or a principal with a token without limits, may use a tool or not. Scopes are apart: listing needs `tools:read`, calling `tools:call`.',
  ...needs('admin'),
  request: {
    body: bodyOf(ExplainSchema, {
      principal: '3f0d5c61-8f0e-4c39-9e0c-0c1b2a3d4e5f',
      server: 'github',
      tool: 'delete_repository',
    }),
  },
  responses: responsesOf(200, 'What decides, and how', ExplanationSchema, {
    errors: [...BODY_ERRORS, 'forbidden', 'not_found'],
    example: {
      is_allowed: false,
      decided_by: 'rule',
      rule: '7b1e4f0c-52f5-4b0e-9d59-1f6c1d2a3b44',
      posture: 'open',
      principal: '3f0d5c61-8f0e-4c39-9e0c-0c1b2a3d4e5f',
      groups: ['interns'],
      server: { id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10', name: 'github' },
      tool: 'delete_repository',
      is_read_only: false,
    },
  }),
});

/** Add the route. */
export function registerAccessExplain(api: Api, { explanations }: ApiPorts): void {
  api.openapi(explain, async context => {
    const { server, tool, ...whose } = context.req.valid('json');
    const { caller, servers, access } = context.var.snapshot;
    const found = await explanations.explain(caller, whose, { server, tool }, servers, access);
    return context.json(
      {
        is_allowed: found.isAllowed,
        decided_by: found.by,
        rule: found.ruleId ?? null,
        posture: access.posture,
        principal: found.principalId,
        groups: [...found.groups],
        server: { id: found.server.id, name: found.server.name },
        tool,
        is_read_only: found.isReadOnly ?? null,
      },
      200,
    );
  });
}
