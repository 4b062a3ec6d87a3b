/** `POST /api/v1/ask`: one request in words, judged, and at most one call (LLM-4). A refused plan is a normal response, not an error. */
import { AskSchema, AskViewSchema, toAskText } from '../agents/ask/ask-schema.ts';
import type { CallerView } from '../gateway/viewer.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { callContextOf, callerViewOf, parentOf, snapshotNow } from './request-context.ts';

export const ASK_PATH = '/api/v1/ask';

const ask = createRoute({
  method: 'post',
  path: ASK_PATH,
  operationId: 'ask',
  tags: ['ask'],
  summary: 'Ask for one call',
  description:
    'The model of the deployment plans one call for a request in words. The gateway checks the plan: its form, the catalog that this token sees, the ' +
    'schema of the tool, the allow-list of the operator, side effects, the budget. Only a plan that passes every check is executed, once. A ' +
    'request that was decided on is answered with 200, whatever the decision.',
  ...needs('tools:call'),
  request: {
    body: bodyOf(AskSchema.meta({ id: 'Ask' }), {
      request: 'find the document about travel expenses',
      summarize: true,
    }),
  },
  errors: ['rate_limited', 'model_missing', 'model_failed', 'model_budget'],
  responses: responsesOf(
    200,
    'The decision and its result',
    AskViewSchema.meta({ id: 'AskResult' }),
    {
      example: {
        verdict: {
          decision: 'allowed',
          stage: 'call',
          reason: 'called',
          message: 'The tool was called',
        },
        plan: { server: 'documents', tool: 'search_documents', args: { query: 'travel expenses' } },
        result: {
          content: [{ type: 'text', text: '{"documents":[{"id":"doc-1","title":"Travel"}]}' }],
          structuredContent: { documents: [{ id: 'doc-1', title: 'Travel' }] },
        },
        typed: { status: 'valid' },
        summary: {
          claims: [{ text: 'One document is about travel.', evidence: '"title":"Travel"' }],
          dropped: 0,
        },
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        usage: { model: 'a-model', calls: 1, questions: 2, tokens: 912, elapsed_ms: 1_480 },
      },
    },
  ),
});

/** Adds the route. */
export function registerAsk(api: Api, { ask: asking, snapshots }: ApiPorts): void {
  api.openapi(ask, async context => {
    const { request, summarize, dry_run: dryRun } = context.req.valid('json');
    async function again(): Promise<CallerView> {
      const now = await snapshotNow(context, snapshots);
      if (!now) throw new PorticoError('unauthorized');
      return callerViewOf(now);
    }
    const outcome = await asking.ask({
      ...callerViewOf(context.var.snapshot),
      request,
      summarize,
      dryRun,
      source: 'rest',
      context: callContextOf(context),
      again,
      parent: parentOf(context),
    });
    return context.body(toAskText(outcome), 200, { 'content-type': 'application/json' });
  });
}
