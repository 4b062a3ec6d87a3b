/** `/api/v1/audit/counts`: the number of matching rows, by time and by outcome. */
import { z } from 'zod';
import { AUDIT_SCOPE } from '../audit/audit-service.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { filterQuery, OWN_ROWS, toQuery } from './audit.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const MAX_PARTS = 500;
const DEFAULT_PARTS = 48;
const DAY_MS = 86_400_000;
const DEFAULT_SPAN_MS = 30 * DAY_MS;
/** Latest end of the range, in milliseconds: ids hold 48 bits of time, and this leaves room for the length of a call. */
const MAX_UNTIL = 2 ** 47;

const count = (description: string) => z.number().int().meta({ description });
const CountsSchema = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    step_seconds: z.number().int(),
    counted_since: z.iso.datetime().meta({
      description:
        'Rows that began earlier are not counted: there are more than one request counts',
    }),
    parts: z
      .array(
        z.object({
          at: z.iso.datetime().meta({ description: 'Start of the interval' }),
          done: count('Rows that began in it, by outcome'),
          denied: z.number().int(),
          failed: z.number().int(),
          cancelled: z.number().int(),
          unknown: z.number().int(),
          slow: count('How many of them took `slow_ms` or longer'),
        }),
      )
      .meta({ description: 'Intervals that have rows, the oldest first' }),
  })
  .meta({ id: 'AuditCounts' });

const counts = createRoute({
  method: 'get',
  path: '/api/v1/audit/counts',
  operationId: 'countAudit',
  tags: ['audit'],
  summary: 'Count the rows of the audit by time',
  description:
    'Of the last 30 days if `since` is absent. One request counts a limited number of rows, the newest; ' +
    `\`counted_since\` says from when on all rows are counted. ${OWN_ROWS}`,
  ...needs(AUDIT_SCOPE),
  request: {
    query: z.strictObject({
      ...filterQuery,
      step: z.coerce
        .number()
        .int()
        .min(1)
        .max(31_536_000)
        .optional()
        .meta({
          description: `Length of an interval in seconds; if absent, the span has ${DEFAULT_PARTS} intervals. At most ${MAX_PARTS} intervals`,
        }),
      slow_ms: z.coerce.number().int().min(1).max(86_400_000).default(5000).meta({
        description: 'Calls that took at least this long count as slow',
      }),
    }),
  },
  responses: responsesOf(200, 'What was counted', CountsSchema, {
    example: {
      since: '2026-11-01T09:00:00.000Z',
      until: '2026-11-02T09:00:00.000Z',
      step_seconds: 3600,
      counted_since: '2026-11-01T09:00:00.000Z',
      parts: [
        {
          at: '2026-11-02T08:00:00.000Z',
          done: 40,
          denied: 2,
          failed: 1,
          cancelled: 0,
          unknown: 0,
          slow: 3,
        },
      ],
    },
  }),
});

/** Adds the route. */
export function registerAuditCounts(api: Api, { audit }: ApiPorts): void {
  api.openapi(counts, async context => {
    const { step, slow_ms: slowMs, ...query } = context.req.valid('query');
    const filter = toQuery(query);
    const until = Math.min(filter.until ?? Date.now() + 1, MAX_UNTIL);
    const since = Math.max(filter.since ?? until - DEFAULT_SPAN_MS, 0);
    if (since >= until) throw fieldProblem('since', 'is not before the end');
    const stepMs = step === undefined ? stepOf(until - since) : step * 1000;
    if ((until - since) / stepMs > MAX_PARTS) {
      throw fieldProblem('step', `gives more than ${MAX_PARTS} intervals`);
    }
    const { caller } = context.var.snapshot;
    const found = await audit.counts(caller, filter, { since, until, stepMs, slowMs });
    const toTime = (at: number) => new Date(at).toISOString();
    const parts = [...found.parts]
      .toSorted(([a], [b]) => a - b)
      .map(([part, counted]) => ({ at: toTime(since + part * stepMs), ...NONE, ...counted }));
    const span = { since: toTime(since), until: toTime(until), step_seconds: stepMs / 1000 };
    return context.json({ ...span, counted_since: toTime(found.countedSince), parts }, 200);
  });
}

const NONE = { done: 0, denied: 0, failed: 0, cancelled: 0, unknown: 0, slow: 0 };

/** Returns the default length of a part: whole seconds, in milliseconds. */
const stepOf = (spanMs: number) => 1000 * Math.max(1, Math.ceil(spanMs / DEFAULT_PARTS / 1000));
