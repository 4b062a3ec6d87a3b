/** `/api/v1/learning`: forget what was learned from use (decision 0068). */
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const forget = createRoute({
  method: 'delete',
  path: '/api/v1/learning',
  operationId: 'forgetLearning',
  tags: ['tools'],
  summary: 'Forget what was learned from use',
  description:
    'Deletes, for everybody, which tools were called after which searches. If `PORTICO_LEARN_FROM_USE` is on, the gateway continues to learn; ' +
    'other isolates may rank by what they have read for another hour.',
  ...needs('admin'),
  responses: responsesOf(204, 'All of it is deleted'),
});

/** Adds the route. */
export function registerLearning(api: Api, { learning }: ApiPorts): void {
  api.openapi(forget, async context => {
    await learning.forget(context.var.snapshot.caller);
    return context.body(null, 204);
  });
}
