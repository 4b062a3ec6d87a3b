/**
 * `/api/v1/aggregator/servers/{id}/health`: the history of a server's health (PRD AG-US5).
 */
import { z } from 'zod';
import { HealthHistorySchema } from '../servers/health/health-schema.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const tags = ['health'];

const calls = {
  calls: 120,
  errors: 1,
  error_rate: 0.008,
  average_ms: 41.5,
  p50_ms: 38,
  p95_ms: 90,
  reasons: { upstream_timeout: 1 },
};
const exampleHistory = {
  checks: [
    {
      id: 7,
      at: '2026-11-02T09:00:30.000Z',
      finding: 'good',
      way: 'message',
      reason: null,
      response_time_ms: 12.5,
    },
  ],
  next_before: null,
  windows: { '1m': calls, '5m': calls, '1h': calls },
};

const history = createRoute({
  method: 'get',
  path: '/api/v1/aggregator/servers/{id}/health',
  operationId: 'getServerHealth',
  tags,
  summary: 'The health of a server over time',
  ...needs('servers:read'),
  request: {
    params: z.object({ id: z.string().max(100).meta({ description: 'Id of the server' }) }),
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(200).default(50),
      before: z.coerce.number().int().min(1).optional(),
    }),
  },
  responses: responsesOf(
    200,
    'Its checks, newest first, and its calls',
    HealthHistorySchema.meta({ id: 'HealthHistory' }),
    { example: exampleHistory },
  ),
});

/** Adds the route. */
export function registerHealth(api: Api, { health }: ApiPorts): void {
  api.openapi(history, async context => {
    const { id } = context.req.valid('param');
    const found = await health.history(context.var.snapshot.caller, id, context.req.valid('query'));
    return context.json(found, 200);
  });
}
