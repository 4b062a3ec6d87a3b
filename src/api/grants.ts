/** `/api/v1/grants`: what people allowed programs to do. List, get, end. */
import { GrantQuerySchema, GrantViewSchema, toGrantView } from '../oauth/grants/grant-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/grants',
  tag: 'sign-in',
  name: 'Grant',
  noun: 'grant',
  phrase: 'a grant',
  view: GrantViewSchema.meta({ id: 'Grant' }),
  example: {
    id: '8d0c2a3e-5b7f-4a61-9d0e-1f2a3b4c5d6e',
    client: 'https://claude.ai/oauth/claude-code-client-metadata',
    name: 'Claude Code',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    principal_name: 'Ada',
    audience: 'https://portico.example.com/mcp',
    scopes: ['tools:read', 'tools:call'],
    created_at: '2026-11-24T09:00:00.000Z',
    expires_at: '2026-12-24T09:00:00.000Z',
    last_used_at: null,
  },
  toView: toGrantView,
  get: { description: 'What one person allowed one program.' },
  delete: {
    summary: 'End a grant',
    description: 'Its tokens are refused everywhere within a second; the program has to ask again.',
  },
  deleted: 'Ended',
};

const listed = {
  operationId: 'listGrants',
  summary: 'List grants',
  description: 'Newest first, page by page: programs that people signed in to.',
  key: 'grants',
  page: 'GrantPage',
  query: GrantQuerySchema,
};

/** Adds the routes. */
export function registerGrants(api: Api, { grants }: ApiPorts): void {
  registerList(api, resource, listed, grants);
  registerOne(api, resource, grants);
}
