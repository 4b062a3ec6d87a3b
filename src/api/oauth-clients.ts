/**
 * `/api/v1/oauth/clients`: programs that ask people for access. List, get, create, delete. A secret appears only in the response that
 * created it.
 */
import { z } from 'zod';
import {
  ClientQuerySchema,
  ClientViewSchema,
  CreateClientSchema,
  toClientView,
} from '../oauth/clients/client-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerCreate, registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/oauth/clients',
  tag: 'sign-in',
  name: 'OAuthClient',
  noun: 'client',
  phrase: 'a client that people sign in to',
  // An id may be the URL of a client's metadata document.
  maxKeyChars: 2_000,
  view: ClientViewSchema.meta({ id: 'OAuthClient' }),
  example: {
    id: 'client_2u8Zs0mJXr1cQyB5fT4nLg',
    kind: 'manual',
    name: 'Reports',
    redirect_uris: ['https://reports.example.com/callback'],
    auth_methods: ['client_secret_basic', 'client_secret_post'],
    created_at: '2026-11-24T09:00:00.000Z',
    last_used_at: null,
  },
  toView: toClientView,
  get: { description: 'Without its secret.' },
  delete: {
    description:
      'Its grants end with it, everywhere within a second. A client that has a document, or registers itself, can come back and ask again.',
  },
};

const created = {
  schema: CreateClientSchema.meta({ id: 'CreateOAuthClient' }),
  example: { name: 'Reports', redirect_uris: resource.example.redirect_uris },
  description:
    'For a program that has no document and does not register itself. Its secret is shown only in this answer.',
  problems: [],
  answer: {
    description: 'The client with its secret',
    schema: ClientViewSchema.extend({
      client_secret: z.string().nullable().meta({ description: 'null for a public client' }),
    }).meta({ id: 'IssuedOAuthClient' }),
    example: { ...resource.example, client_secret: 'portico_secret_…' },
  },
};

const listed = {
  operationId: 'listOAuthClients',
  summary: 'List clients that people sign in to',
  description:
    'Newest first, page by page. A client that has a document is listed once somebody has allowed it.',
  key: 'clients',
  page: 'OAuthClientPage',
  query: ClientQuerySchema,
};

/** Adds the routes. */
export function registerOAuthClients(api: Api, { clientRecords }: ApiPorts): void {
  registerCreate(api, resource, created, async (body, { caller }) => {
    const { client, secret } = await clientRecords.create(caller, body);
    return { record: client, shown: { ...toClientView(client), client_secret: secret ?? null } };
  });
  registerList(api, resource, listed, clientRecords);
  registerOne(api, resource, clientRecords);
}
