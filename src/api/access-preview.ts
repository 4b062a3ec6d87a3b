/** `/api/v1/access/rules/preview` and `/api/v1/toolsets/preview`: what saving a change would change, and for whom. Writes nothing. */
import { z } from 'zod';
import { MAX_COMPARISONS, type GroupChange } from '../access/policy/change.ts';
import { MAX_PEOPLE, type Preview } from '../gateway/explain/preview-service.ts';
import { CreateAccessRule } from './access-rules.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { CreateToolset } from './toolsets.ts';

export const PREVIEW_PATHS = {
  rule: '/api/v1/access/rules/preview',
  toolset: '/api/v1/toolsets/preview',
} as const;

/** Maximum number of groups in a preview, of principals named in one group, and of tools named in one change. */
const MAX_GROUPS = 20;
const MAX_NAMED = 20;
const MAX_TOOLS = 100;

const replaces = z.string().min(1).max(100).optional();
const isWhole = (body: object) => Object.keys(body).length > 0;

const RuleSchema = z
  .strictObject({
    rule: CreateAccessRule.optional().meta({
      description: 'If absent, the rule in `replaces` is deleted',
    }),
    replaces: replaces.meta({ description: 'Id of the rule that is replaced or deleted' }),
  })
  .refine(isWhole, 'say what is made, edited or deleted')
  .meta({ id: 'PreviewAccessRule' });

const ToolsetSchema = z
  .strictObject({
    toolset: CreateToolset.optional().meta({
      description: 'If absent, the toolset in `replaces` is deleted',
    }),
    replaces: replaces.meta({ description: 'Id of the toolset that is replaced or deleted' }),
  })
  .refine(isWhole, 'say what is made, edited or deleted')
  .meta({ id: 'PreviewToolset' });

const count = z.number().int();
const change = {
  gained: count.meta({ description: 'How many tools are gained' }),
  lost: count,
  tools: z
    .array(
      z.object({
        server: z.string(),
        tool: z.string().nullable().meta({
          description:
            'Its name at the server; null: everything that the server offers besides tools',
        }),
        is_gained: z.boolean(),
      }),
    )
    .meta({ description: `The first ${MAX_TOOLS} of them` }),
};

const preview = {
  people: count.meta({ description: 'Number of principals that the change concerns' }),
  examined: count.meta({ description: 'How many of them were compared, the newest first' }),
  changed: count.meta({ description: 'How many of those gain or lose something' }),
  groups: z
    .array(
      z.object({
        people: count,
        principals: z
          .array(z.object({ id: z.string(), name: z.string() }))
          .meta({ description: `The first ${MAX_NAMED} of them` }),
        ...change,
      }),
    )
    .meta({
      description: `Principals with the same change, the largest group first; at most ${MAX_GROUPS} groups`,
    }),
};

const PreviewSchema = z.object(preview).meta({ id: 'AccessPreview' });
const ToolsetPreviewSchema = z
  .object({
    ...preview,
    selection: z.object(change).meta({
      description: 'What the toolset itself gains and loses, regardless of who may use it',
    }),
  })
  .meta({ id: 'ToolsetPreview' });

const BOUNDS =
  `The access decision is compared before and after the change, for the tools that servers offer now and for principals with a token without limits, which administers only if the principal may: ` +
  `${MAX_PEOPLE} principals at most, fewer if that would take more than ${MAX_COMPARISONS} comparisons of a rule with a tool. ` +
  `Scopes and personal accounts at servers are ignored. Nothing is written.`;

const examples = {
  tools: [{ server: 'github', tool: 'get_issue', is_gained: true }],
  principals: [{ id: '3f0d5c61-8f0e-4c39-9e0c-0c1b2a3d4e5f', name: 'Ria' }],
};
const group = { people: 1, ...examples, gained: 1, lost: 0 };
const example = { people: 2, examined: 2, changed: 1, groups: [group] };

const previewRule = createRoute({
  method: 'post',
  path: PREVIEW_PATHS.rule,
  operationId: 'previewAccessRule',
  tags: ['access'],
  summary: 'Preview a rule',
  description: `Says who would gain and lose which tools, if a rule were made, edited or deleted. ${BOUNDS}`,
  ...needs('admin'),
  request: {
    body: bodyOf(RuleSchema, {
      rule: { effect: 'allow', subject: { kind: 'group', name: 'readers' }, read_only: true },
    }),
  },
  errors: ['not_found'],
  responses: responsesOf(200, 'Who gains and loses what', PreviewSchema, { example }),
});

const previewToolset = createRoute({
  method: 'post',
  path: PREVIEW_PATHS.toolset,
  operationId: 'previewToolset',
  tags: ['toolsets'],
  summary: 'Preview a toolset',
  description:
    'Says what a toolset would gain and lose, if it were made, edited or deleted, and who would gain and lose which tools at its endpoint. ' +
    `Tokens that are limited to it are ignored. ${BOUNDS}`,
  ...needs('admin'),
  request: { body: bodyOf(ToolsetSchema, { toolset: { name: 'triage', include: ['*.get_*'] } }) },
  errors: ['not_found'],
  responses: responsesOf(200, 'What changes, and for whom', ToolsetPreviewSchema, {
    example: { ...example, selection: { gained: 1, lost: 0, tools: examples.tools } },
  }),
});

/** Adds the routes. */
export function registerAccessPreview(api: Api, { previews }: ApiPorts): void {
  api.openapi(previewRule, async context => {
    const { rule, replaces: id } = context.req.valid('json');
    const { caller, ...now } = context.var.snapshot;
    return context.json(toView(await previews.ofRule(caller, rule, id, now)), 200);
  });

  api.openapi(previewToolset, async context => {
    const { toolset, replaces: id } = context.req.valid('json');
    const { caller, ...now } = context.var.snapshot;
    const found = await previews.ofToolset(caller, toolset, id, now);
    return context.json({ ...toView(found), selection: toChange(found.selection) }, 200);
  });
}

const toView = ({ people, examined, groups }: Preview) => ({
  people,
  examined,
  changed: groups.reduce((sum, each) => sum + each.people.length, 0),
  groups: groups.slice(0, MAX_GROUPS).map(each => ({
    people: each.people.length,
    principals: each.people.slice(0, MAX_NAMED).map(({ name, holder }) => {
      return { id: holder.principalId, name };
    }),
    ...toChange(each),
  })),
});

function toChange({ gained, lost, first }: GroupChange) {
  const tools = first(MAX_TOOLS).map(({ offer, tool = null, isGained }) => {
    return { server: offer.server.name, tool, is_gained: isGained };
  });
  return { gained, lost, tools };
}
