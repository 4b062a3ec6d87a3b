/** `/api/v1/toolsets`: create, list, get, edit, delete. */
import {
  CreateToolsetSchema,
  ToolsetQuerySchema,
  ToolsetViewSchema,
  toToolsetView,
  UpdateToolsetSchema,
} from '../access/toolsets/toolset-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerEdits, registerRecords } from './records.ts';

/** Body of a request that creates a toolset. */
export const CreateToolset = CreateToolsetSchema.meta({ id: 'CreateToolset' });

const created = {
  name: 'triage',
  description: 'Reading issues',
  include: ['*.list_*', '*.get_*'],
  exclude: ['*.get_secret*'],
  name_style: 'underscore',
  tools: 'search',
  members: { principals: [], groups: ['support'] },
};

const resource = {
  path: '/api/v1/toolsets',
  tag: 'toolsets',
  name: 'Toolset',
  noun: 'toolset',
  phrase: 'a toolset',
  view: ToolsetViewSchema.meta({ id: 'Toolset' }),
  example: {
    id: '9c0a1b2c-3d4e-4f5a-8b6c-7d8e9f0a1b2c',
    path: '/mcp/toolsets/triage',
    ...created,
    overrides: [],
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toToolsetView,
  delete: { description: 'A token that is limited to it alone can use nothing afterwards.' },
  create: {
    schema: CreateToolset,
    example: created,
    description:
      'Patterns are qualified (`github.create_*`); a server without a tool means all of its tools. Two tools with the same name are refused.',
  },
  list: {
    operationId: 'listToolsets',
    summary: 'List toolsets',
    description: 'In the order of their names, page by page.',
    key: 'toolsets',
    page: 'ToolsetPage',
    query: ToolsetQuerySchema,
  },
};

const patch = {
  schema: UpdateToolsetSchema.meta({ id: 'UpdateToolset' }),
  example: { name_style: null, tools: null },
  change: { name_style: undefined, tools: undefined },
  description: 'Absent fields stay as they are, null clears. A rename moves its URL.',
  problems: ['conflict'] as const,
};

/** Adds the routes. */
export function registerToolsets(api: Api, { toolsets }: ApiPorts): void {
  registerRecords(api, resource, toolsets);
  registerEdits(api, resource, patch, toolsets);
}
