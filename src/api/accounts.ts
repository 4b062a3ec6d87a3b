/** `/api/v1/accounts`: people's accounts at servers, used for their own calls. */
import { z } from 'zod';
import type { Caller } from '../access/policy/caller.ts';
import {
  AccountQuerySchema,
  AccountViewSchema,
  ConnectAccountSchema,
  toAccountView,
  type AccountQuery,
} from '../servers/accounts/account-schema.ts';
import { restrictToCaller } from '../gateway/steps/restrict.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { requireScope } from '../shared/identity/principal.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { registerCreate, registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/accounts',
  tag: 'principals',
  name: 'Account',
  noun: 'account',
  phrase: 'an account at a server',
  scopes: { read: 'tools:call', write: 'tools:call' },
  view: AccountViewSchema.meta({ id: 'Account' }),
  example: {
    id: '9fa0b1c2-d3e4-4f5a-8b6c-7d8e9fa0b1c2',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    principal_name: 'Ada',
    server: '6a7b8c9d-0e1f-4a2b-8c3d-4e5f6a7b8c9d',
    server_name: 'github',
    issuer: 'https://github.com/login/oauth',
    scope: 'repo read:org',
    needs_sign_in: null,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toAccountView,
  delete: { description: 'Calls of that principal no longer use it.' },
} as const;

const connected = {
  schema: ConnectAccountSchema.meta({ id: 'ConnectAccount' }),
  example: { server: 'github', token: 'TOKEN-OF-GITHUB' },
  summary: 'Connect an account of your own',
  description:
    'Your calls to the server use it from now on. Connect again to give the account another token.',
  problems: ['not_found', 'busy'] as const,
};

const listed = {
  operationId: 'listAccounts',
  summary: 'List accounts',
  description: 'Your own, newest first, page by page; administrators see all.',
  key: 'accounts',
  page: 'AccountPage',
  query: AccountQuerySchema,
};

const takers = createRoute({
  method: 'get',
  path: '/api/v1/account-servers',
  operationId: 'listAccountServers',
  tags: ['principals'],
  summary: 'List the servers at which you can have an account',
  description:
    'Of the servers that you may use: those that accept personal accounts, and your accounts there.',
  ...needs('tools:call'),
  responses: responsesOf(
    200,
    'The servers, by name',
    z
      .object({
        servers: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            required: z.boolean().meta({
              description:
                'Whether your calls need one; if not, they use the account of the deployment',
            }),
            connected: z.boolean().meta({ description: 'Whether you have one that works' }),
          }),
        ),
      })
      .meta({ id: 'AccountServers' }),
    {
      example: {
        servers: [
          { id: resource.example.server, name: 'github', required: true, connected: false },
        ],
      },
    },
  ),
});

/** A server that takes accounts, as the caller sees it. */
const toTaker = ({ id, name, accounts, account, needsAccount }: Server) => ({
  id,
  name,
  required: accounts === 'per_principal',
  connected: account !== undefined && needsAccount !== true,
});

/** Returns the servers of the registry that a caller may use. */
const visibleTo = (caller: Caller, servers: readonly Server[]) =>
  restrictToCaller(caller, { servers }).servers;

/** Adds the routes. */
export function registerAccounts(api: Api, { accounts }: ApiPorts): void {
  registerCreate(api, resource, connected, async (body, { caller, servers }) => ({
    record: await accounts.connect(caller, body, visibleTo(caller, servers)),
  }));
  registerList(api, resource, listed, {
    list: (caller: Caller, query: AccountQuery, servers: readonly Server[], limit, after) =>
      accounts.list(caller, query, visibleTo(caller, servers), limit, after),
  });
  registerOne(api, resource, {
    get: (caller, id, servers) => accounts.get(caller, id, visibleTo(caller, servers)),
    delete: (caller, id, servers) => accounts.delete(caller, id, visibleTo(caller, servers)),
  });
  api.openapi(takers, context => {
    const { caller, servers } = context.var.snapshot;
    requireScope(caller, 'tools:call');
    const found = visibleTo(caller, servers).filter(
      ({ accounts: mode, transportType }) => mode !== 'shared' && transportType !== 'STDIO',
    );
    const byName = found.map(toTaker).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return context.json({ servers: byName }, 200);
  });
}
