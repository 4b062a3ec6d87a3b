/** `GET /api/v1/model`: the deployment's language model and its usage today (LLM-3). */
import { ModelViewSchema } from '../models/usage-schema.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const view = createRoute({
  method: 'get',
  path: '/api/v1/model',
  operationId: 'getModel',
  tags: ['model'],
  summary: 'What the language model was used for today',
  description:
    'Calls, tokens and failures of this day by purpose, with the budgets of a day: `skills`, `ask` and `chat`, `index` (vectors of ' +
    'tools) and `search` (vectors of requests).',
  ...needs('admin'),
  responses: responsesOf(
    200,
    'The model, its budget and its use',
    ModelViewSchema.meta({ id: 'Model' }),
    {
      example: {
        model: {
          name: 'gpt-5-mini',
          api: 'openai',
          embed_model: 'text-embedding-3-small',
          calls_per_day: 2_000,
          tokens_per_day: 5_000_000,
        },
        day: '2026-11-23',
        ends_at: '2026-11-24T00:00:00.000Z',
        usage: [
          {
            purpose: 'ask',
            calls: 12,
            tokens: 40_210,
            failures: 1,
            last_problem: 'timeout',
            last_failed_at: '2026-11-23T09:12:44.310Z',
          },
          {
            purpose: 'search',
            calls: 310,
            tokens: 4_120,
            failures: 0,
            last_problem: null,
            last_failed_at: null,
          },
        ],
      },
    },
  ),
});

/** Adds the route. */
export function registerModel(api: Api, { usage }: ApiPorts): void {
  api.openapi(view, async context =>
    context.json(await usage.view(context.var.snapshot.caller, Date.now()), 200),
  );
}
