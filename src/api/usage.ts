/** `/api/v1/usage`: the number of calls by day, principal, group, server and tool; in pages or as one table (OPS-7). */
import { z } from 'zod';
import { DIMENSIONS, type Dimension } from '../audit/usage/usage-cells.ts';
import { quantileOf, USAGE_SCOPE, type UsageItem } from '../audit/usage/usage-service.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { MAX_NAME_CHARS } from '../shared/util/name-limits.ts';
import { toCsvLine } from '../shared/util/csv.ts';
import { dayBefore, toDay } from '../shared/util/utc-day.ts';
import { createRoute, header, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';

const PATH = '/api/v1/usage';
const tags = ['usage'];
const DEFAULT_DAYS = 30;
/** Maximum number of rows in one table. */
const MAX_ROWS = 20_000;
const WHOSE =
  'Administrators see all. A person sees their own calls; a client, or a token with limits, sees only the calls of that token. ' +
  'Calls are counted once they are stored and final, about a minute after they ended. ' +
  'Once a day has 20,000 rows, further combinations are counted under the server and tool `*`.';

const ByParamSchema = z
  .string()
  .max(100)
  .default('tool')
  .meta({
    description: `What to group by, one or more with commas between: ${DIMENSIONS.join(', ')}. Groups are the current ones: a call counts in each group of its principal`,
  });

const query = {
  by: ByParamSchema,
  from: z.iso.date().optional().meta({ description: 'First day (UTC); absent: 30 days ago' }),
  to: z.iso.date().optional().meta({ description: 'Last day; absent: today' }),
  principal: z.string().max(200).optional().meta({ description: 'Id or name of who called' }),
  token: z.string().max(200).optional().meta({ description: 'Id or name of the token' }),
  group: z.string().max(200).optional().meta({ description: 'Calls of its current members' }),
  server: z.string().max(200).optional().meta({ description: 'Id or name' }),
  tool: z
    .string()
    .max(MAX_NAME_CHARS)
    .optional()
    .meta({ description: 'Qualified name, in any style' }),
};

const count = (description: string) => z.number().int().meta({ description });
const UsageSchema = z
  .object({
    day: z.string().optional(),
    principal: z.string().optional(),
    principal_name: z.string().nullable().optional(),
    token: z.string().optional(),
    token_name: z.string().nullable().optional(),
    group: z.string().optional(),
    server: z.string().optional().meta({
      description: 'Id; empty where a call was refused before its server was known',
    }),
    server_name: z.string().optional().meta({ description: 'Its name at that time' }),
    tool: z.string().optional().meta({ description: 'Qualified name; empty for resources' }),
    action: z.string().optional(),
    calls: count('All calls'),
    errors: count('Calls that failed, or whose result is an error'),
    denied: count('Calls that were refused: not allowed, hidden, unknown or past a limit'),
    cancelled: count('Calls that their client cancelled'),
    unknown: count('Calls whose outcome is not known'),
    cached: count('Calls that were answered from the cache'),
    argument_chars: count('Characters of arguments, as JSON'),
    result_chars: count('Characters of results, as JSON; a token of a model is about four'),
    mean_ms: z.number().int().nullable(),
    p50_ms: z.number().int().nullable().meta({
      description: 'Half of the calls took no longer; the upper bound of one of nine buckets',
    }),
    p95_ms: z.number().int().nullable(),
    max_ms: z.number().int(),
  })
  .meta({ id: 'Usage' });

const example = {
  server: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
  server_name: 'github',
  tool: 'github.create_issue',
  action: 'tool.call',
  calls: 120,
  errors: 3,
  denied: 1,
  cancelled: 0,
  unknown: 0,
  cached: 0,
  argument_chars: 9_800,
  result_chars: 61_000,
  mean_ms: 180,
  p50_ms: 250,
  p95_ms: 500,
  max_ms: 2_310,
};

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listUsage',
  tags,
  summary: 'Get the usage',
  description: `The most calls first, as of the time of each page. ${WHOSE}`,
  ...needs(USAGE_SCOPE),
  request: { query: z.strictObject({ ...pageQuery, ...query }) },
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        usage: z.array(UsageSchema),
        counted_until: z.iso.datetime().meta({
          description: 'What was stored after this time is not counted yet',
        }),
        next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
      })
      .meta({ id: 'UsagePage' }),
    { example: { usage: [example], counted_until: '2026-11-02T09:00:00.000Z' } },
  ),
});

const exportAll = createRoute({
  method: 'get',
  path: `${PATH}/export`,
  operationId: 'exportUsage',
  tags,
  summary: 'Export the usage as a table',
  description:
    'CSV, as of one moment. A text that a spreadsheet would take for a formula gets an apostrophe in front. ' +
    `More than ${MAX_ROWS} rows are refused: name fewer days or dimensions. ` +
    `The last column, \`counted_until\`, is the same in every row: what was stored after this time is not counted yet. ` +
    `The header \`Counted-Until\` has it too, for a table without rows. ${WHOSE}`,
  ...needs(USAGE_SCOPE),
  request: { query: z.strictObject(query) },
  responses: responsesOf(200, 'The table', z.string(), {
    type: 'text/csv',
    headers: { 'Counted-Until': header('What was stored after this time is not counted yet') },
    example: 'day,calls,counted_until\r\n2026-11-02,120,2026-11-02T09:00:00.000Z\r\n',
  }),
});

const PositionSchema = z.tuple([z.number()], z.string());
/** The columns that name a row, by what the usage is grouped by. */
const NAMING: Readonly<Record<Dimension, readonly string[]>> = {
  day: ['day'],
  principal: ['principal', 'principal_name'],
  token: ['token', 'token_name'],
  group: ['group'],
  server: ['server', 'server_name'],
  tool: ['server', 'server_name', 'tool', 'action'],
};
/** Columns of a table. Columns that name a row are present only if the usage is grouped by them. */
const COLUMNS = Object.keys(UsageSchema.shape) as (keyof z.infer<typeof UsageSchema>)[];

/** Adds the routes. */
export function registerUsage(api: Api, { callUsage }: ApiPorts): void {
  api.openapi(list, async context => {
    const { limit, cursor, ...given } = context.req.valid('query');
    const filter = toQuery(given);
    const bound = ['usage', filter];
    const after = await positionOf(bound, cursor, PositionSchema);
    const page = await callUsage.list(context.var.snapshot.caller, filter, limit, after);
    const more = await nextOf(bound, page.next);
    const until = new Date(page.countedUntil).toISOString();
    return context.json({ usage: page.items.map(toView), counted_until: until, ...more }, 200);
  });
  api.openapi(exportAll, async context => {
    const filter = toQuery(context.req.valid('query'));
    const { caller } = context.var.snapshot;
    const page = await callUsage.list(caller, filter, MAX_ROWS, undefined, true);
    if (page.next) throw fieldProblem('by', `gives more than ${MAX_ROWS} rows in these days`);
    const views = page.items.map(toView);
    const naming = filter.by.flatMap(each => NAMING[each]);
    const named = COLUMNS.filter(name => isSum(name) || naming.includes(name));
    // A table is passed on without the response it came in, so every row holds the time.
    const until = new Date(page.countedUntil).toISOString();
    const rows = views.map(view => [...named.map(name => view[name]), until]);
    const lines = [[...named, 'counted_until'], ...rows].map(toCsvLine);
    const headers = { 'content-type': 'text/csv; charset=utf-8', 'counted-until': until };
    return context.body(lines.join(''), 200, headers);
  });
}

const isSum = (name: string): boolean =>
  name in example && typeof example[name as 'calls'] === 'number';

/** @throws PorticoError `validation_failed` */
function toQuery({ by, from, to, ...rest }: z.infer<z.ZodObject<typeof query>>) {
  const dimensions = [...new Set(by.split(',').map(toDimension))];
  const last = to ?? toDay(Date.now());
  const first = from ?? dayBefore(last, DEFAULT_DAYS);
  if (first > last) throw fieldProblem('from', 'is after the last day');
  return { ...rest, by: dimensions, from: first, to: last };
}

function toDimension(text: string): Dimension {
  const found = DIMENSIONS.find(name => name === text.trim());
  if (found) return found;
  throw fieldProblem('by', `must be one or more of ${DIMENSIONS.join(', ')}`);
}

function toView(item: UsageItem): z.infer<typeof UsageSchema> {
  const { timed, ms } = item;
  const view = {
    ...item,
    mean_ms: timed > 0 ? Math.round(ms / timed) : null,
    p50_ms: quantileOf(item, 0.5) ?? null,
    p95_ms: quantileOf(item, 0.95) ?? null,
  };
  const shown = COLUMNS.map(name => [name, view[name]] as const);
  const given = shown.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as z.infer<typeof UsageSchema>;
}
