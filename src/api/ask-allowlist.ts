/** `/api/v1/ask/allowlist`: which tools ask may call. Create, list, get, delete. */
import {
  CreateEntrySchema,
  EntryQuerySchema,
  EntryViewSchema,
  toEntryView,
} from '../agents/ask/allowlist-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerRecords } from './records.ts';

const description = 'Anybody may have documents searched';

const resource = {
  path: '/api/v1/ask/allowlist',
  tag: 'ask',
  name: 'AskAllowlistEntry',
  noun: 'entry',
  phrase: 'an entry of the allow-list of ask',
  view: EntryViewSchema.meta({ id: 'AskAllowlistEntry' }),
  example: {
    id: '2c6e0d1a-8f5b-4a83-9f0e-6d1b2a3c4d55',
    subject: { kind: 'everyone' },
    server: 'documents',
    tool: 'search_*',
    side_effects: false,
    description,
    revision: 1,
    created_at: '2026-11-22T09:00:00.000Z',
  },
  toView: toEntryView,
  create: {
    schema: CreateEntrySchema.meta({ id: 'CreateAskAllowlistEntry' }),
    example: { server: '*', tool: 'search_*', description },
    summary: 'Allow ask to call tools',
    description:
      'Without an entry ask calls no tool. Access rules and tokens have to allow the tool as well. A tool that is not annotated ' +
      'read-only needs an entry that names exactly its server and tool and has side_effects.',
  },
  list: {
    operationId: 'listAskAllowlist',
    summary: 'List the tools that ask may call',
    key: 'entries',
    page: 'AskAllowlistPage',
    query: EntryQuerySchema,
  },
};

/** Adds the routes. */
export function registerAskAllowlist(api: Api, { askAllowlist }: ApiPorts): void {
  registerRecords(api, resource, askAllowlist);
}
