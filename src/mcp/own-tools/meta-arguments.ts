/**
 * Checks the arguments of the three meta tools. A model that got them wrong gets one line that says what to do. The arguments for the tool
 * that is called are not checked here: they are forwarded as they came.
 */
import { z } from 'zod';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import {
  MAX_FOUND,
  MAX_NAME_CHARS,
  MAX_QUERY_CHARS,
  MAX_SERVERS,
  USUAL_FOUND,
} from '../../search/rank/limits.ts';
import type { SearchRequest } from '../../gateway/search.ts';

/** Most tools that one call describes. */
export const MAX_DESCRIBED = 5;
/** Most queries of one search, and the default limit of each where there are several. */
export const MAX_QUERIES = 5;
const USUAL_FOUND_EACH = 5;
const MAX_KEY_CHARS = 60;

const name = z
  .string('must be a string: a name that search_tools gave')
  .min(1, 'is empty; use a name that search_tools gave')
  .max(MAX_NAME_CHARS, 'is too long; use a name that search_tools gave');

const range = `must be an integer from 1 to ${MAX_FOUND}`;

const query = z
  .string('must be a string: say in a few words what the tool should do')
  .trim()
  .min(1, 'is empty; say in a few words what the tool should do')
  .max(MAX_QUERY_CHARS, `may have up to ${MAX_QUERY_CHARS} characters; say it in fewer words`);

const SearchSchema = z
  .strictObject({
    query: query.optional(),
    queries: z
      .array(query, 'must be a list of strings: one for each task')
      .max(MAX_QUERIES, `may have up to ${MAX_QUERIES} queries`)
      .optional(),
    limit: z.int(range).min(1, range).max(MAX_FOUND, range).optional(),
    servers: z
      .array(
        z.string('must be a string: the name of a server'),
        'must be a list of names of servers',
      )
      .max(MAX_SERVERS, `may name up to ${MAX_SERVERS} servers`)
      .optional(),
    skill: z.string('must be a string: the name of a skill').max(MAX_NAME_CHARS).optional(),
  })
  .transform(({ query: one, queries = [], ...rest }) => ({
    ...rest,
    queries: [...new Set(one === undefined ? queries : [one, ...queries])],
  }));

const DescribeSchema = z.union([
  z.strictObject({ name }).transform(given => [given.name]),
  z
    .strictObject({ names: z.array(name).min(1).max(MAX_DESCRIBED) })
    .transform(given => given.names),
]);

const CallSchema = z.strictObject({
  name,
  arguments: z.looseObject({}, 'must be an object, written out, not as text').optional(),
});

/** Returns the search requests, one for each query. @throws PorticoError `invalid_params` */
export function parseSearch(given: unknown): readonly SearchRequest[] {
  const known = 'query, queries, limit, servers and skill';
  const parsed = parse(SearchSchema, 'search_tools', given, known);
  const { queries, servers, skill } = parsed;
  if (queries.length === 0 || queries.length > MAX_QUERIES) {
    const hint = `give query, or queries with up to ${MAX_QUERIES} of them`;
    throw new PorticoError('invalid_params', `search_tools: ${hint}, each a task in a few words`);
  }
  const limit = parsed.limit ?? (queries.length === 1 ? USUAL_FOUND : USUAL_FOUND_EACH);
  const usual = { limit, returnsUnmatched: true } as const;
  const filters = {
    ...usual,
    ...(servers?.length ? { servers } : {}),
    ...(skill ? { skill } : {}),
  };
  return queries.map(text => ({ query: text, ...filters }));
}

/** Returns the names of the tools to describe. @throws PorticoError `invalid_params` */
export function parseDescribe(given: unknown): readonly string[] {
  const hint = `give name, or names with up to ${MAX_DESCRIBED} of them`;
  const found = DescribeSchema.safeParse(given ?? {});
  if (found.success) return found.data;
  throw new PorticoError('invalid_params', `describe_tool: ${hint}, as search_tools gave them`);
}

/** Checks the arguments of `call_tool`. @returns the name of the tool to call @throws PorticoError `invalid_params` */
export function parseCall(given: unknown): string {
  const known = 'name and arguments; what the tool itself takes belongs in arguments';
  return parse(CallSchema, 'call_tool', given, known).name;
}

function parse<T>(schema: z.ZodType<T>, tool: string, given: unknown, known: string): T {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const said =
    issue?.code === 'unrecognized_keys'
      ? `does not know ${toOneLine(String(issue.keys[0]), MAX_KEY_CHARS)}; it takes ${known}`
      : `${issue?.path.join('.') || 'arguments'} ${issue?.message}`;
  throw new PorticoError('invalid_params', `${tool}: ${said}`);
}
