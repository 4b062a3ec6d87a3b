/**
 * Definitions of the three meta tools, the only tools on an endpoint that lists them (FIND-2). The list has the same bytes for everybody,
 * always, so that a host's prompt cache keeps it and it contains no text of any server.
 */
import { MAX_FOUND } from '../../search/rank/limits.ts';
import { MAX_DESCRIBED, MAX_QUERIES } from './meta-arguments.ts';
import { createOwnList } from './own-tools.ts';

const text = (description: string) => ({ type: 'string', description });
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
});

/** Asks a host that loads definitions on demand to load these from the start (Claude Code, `_meta` of a tool). */
const _meta = { 'anthropic/alwaysLoad': true };

const SEARCH = {
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Find tools by what they do, the best first. Each comes as name(parameter*: type): `*` marks what must be given, `~` where only describe_tool tells all. Without `~`, call it at once with call_tool.',
  inputSchema: object(
    {
      query: text(
        'What one tool should do, in a few English words: the verb and the thing, such as "create issue"',
      ),
      queries: { ...texts('One query for each of several tasks'), maxItems: MAX_QUERIES },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_FOUND,
        description: 'Most tools to find for a query',
      },
      servers: texts('Only tools of these servers'),
      skill: text('Only tools of this skill, by its name or id'),
    },
    [],
  ),
  outputSchema: object(
    {
      tools: {
        type: 'array',
        items: object(
          {
            name: { type: 'string' },
            signature: { type: 'string' },
            hint: { type: 'string' },
            description: { type: 'string' },
            score: { type: 'number' },
            server: { type: 'string' },
          },
          ['name', 'signature', 'description', 'score', 'server'],
        ),
      },
      queries: { type: 'array', items: { type: 'object' } },
    },
    ['tools'],
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
  _meta,
};

const DESCRIBE = {
  name: 'describe_tool',
  title: 'Describe tool',
  description: 'Show what a tool does and the whole schema of its arguments.',
  inputSchema: {
    type: 'object',
    properties: {
      name: text('A name that search_tools gave'),
      names: { ...texts('Several such names'), maxItems: MAX_DESCRIBED },
    },
  },
  outputSchema: object({ tools: { type: 'array', items: { type: 'object' } } }, ['tools']),
  annotations: { readOnlyHint: true, openWorldHint: false },
  _meta,
};

const CALL = {
  name: 'call_tool',
  title: 'Call tool',
  description:
    'Call a tool by its name. Its arguments must fit what search_tools or describe_tool shows.',
  inputSchema: object(
    {
      name: text('A name that search_tools gave'),
      arguments: { type: 'object', description: 'The arguments of that tool' },
    },
    ['name'],
  ),
  // The tool that is called decides whether a call becomes a task.
  execution: { taskSupport: 'optional' },
  _meta,
};

/** In the order of their use. */
export const META_TOOLS = [SEARCH, DESCRIBE, CALL] as const;
export type MetaTool = (typeof META_TOOLS)[number]['name'];

const NAMES: ReadonlySet<unknown> = new Set(META_TOOLS.map(({ name }) => name));

/** Whether a name is one of the meta tools. */
export function isMetaTool(name: unknown): name is MetaTool {
  return NAMES.has(name);
}

export const metaListResult = createOwnList(META_TOOLS);
