/**
 * `/api/v1/tokens`: create, list, get, rotate, revoke. A value appears only in the response that created it. Callers who do not administer
 * the whole deployment see only their own tokens. `/api/v1/token`: the token of the request.
 */
import { z } from 'zod';
import {
  CreateTokenSchema,
  RotateTokenSchema,
  TokenQuerySchema,
  TokenViewSchema,
  toTokenView,
  type ShownToken,
} from '../access/tokens/token-schema.ts';
import { ScopeSchema, administersAll, hasLimits } from '../shared/identity/principal.ts';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { OWN_SCOPES } from '../access/tokens/own-tokens.ts';
import { restrictToCaller } from '../gateway/steps/restrict.ts';
import type { NamedServer } from '../shared/util/name-pattern.ts';
import { bodyOf, createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { registerCreate, registerList, registerOne } from './records.ts';

const PATH = '/api/v1/tokens';
const IssuedSchema = TokenViewSchema.extend({ token: z.string() }).meta({ id: 'IssuedToken' });
const resource = {
  path: PATH,
  tag: 'tokens',
  name: 'Token',
  noun: 'token',
  phrase: 'a token',
  scopes: OWN_SCOPES,
  view: TokenViewSchema.meta({ id: 'Token' }),
  example: {
    id: '5a1f0a52-7a0e-4f0e-8f0b-6f3c2d1e0a99',
    name: 'laptop',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    servers: null,
    tools: ['github.get_*'],
    toolsets: null,
    scopes: ['tools:read', 'tools:call'],
    effective_scopes: ['tools:read', 'tools:call'],
    created_at: '2026-11-02T09:00:00.000Z',
    expires_at: '2027-02-01T00:00:00.000Z',
    is_expired: false,
    last_used_at: null,
    former_expires_at: null,
    made_by: null,
  },
  toView: (token: ShownToken, _servers: readonly NamedServer[], snapshot: Snapshot) =>
    toTokenView(token, knownServers(snapshot), Date.now()),
  get: { description: 'Without its value.' },
  delete: {
    summary: 'Revoke a token',
    description:
      'It is refused everywhere within a second, as is its value from before a rotation.',
  },
  deleted: 'Revoked',
};

const created = {
  schema: CreateTokenSchema.meta({ id: 'CreateToken' }),
  example: { name: 'laptop', scopes: ['tools:read', 'tools:call'] },
  description:
    'Its value is shown only in this answer. Administrators make tokens for anybody, everybody else for themselves, ' +
    'with no more rights or time than the token or sign-in of this request has. Such a token ends with it, and cannot make others.',
  problems: ['conflict'] as const,
  answer: {
    description: 'The token with its value',
    schema: IssuedSchema,
    example: { ...resource.example, token: 'portico_…' },
  },
};

const listed = {
  operationId: 'listTokens',
  summary: 'List tokens',
  description:
    'Your own that may do no more than the token or sign-in of this request, newest first, page by page, with expired ones. Administrators see all.',
  key: 'tokens',
  page: 'TokenPage',
  query: TokenQuerySchema,
};

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateToken',
  tags: ['tokens'],
  summary: 'Give a token a new value',
  description:
    'It works at once and is shown only in this answer. The previous value works for the grace time, none by default; a second rotation ends it.',
  ...needs('admin'),
  request: {
    params: idOf('token'),
    body: {
      ...bodyOf(RotateTokenSchema.meta({ id: 'RotateToken' }), { grace_seconds: 3600 }),
      required: false,
    },
  },
  errors: ['conflict'],
  responses: responsesOf(200, 'The token with its new value', IssuedSchema, {
    example: {
      ...created.answer.example,
      former_expires_at: '2026-11-02T10:00:00.000Z',
    },
  }),
});

const own = createRoute({
  method: 'get',
  path: '/api/v1/token',
  operationId: 'getOwnToken',
  tags: ['tokens'],
  summary: 'Get the token of this request',
  description: 'For every token, whatever its scopes, and for a browser that is signed in.',
  responses: responsesOf(
    200,
    'Which token it is, and what it may do',
    z
      .object({
        id: z.string().meta({ description: 'As administrators see it' }),
        principal: z.string().meta({ description: 'Id of the principal whose token it is' }),
        name: z.string().meta({ description: 'Name of the principal' }),
        groups: z.array(z.string()),
        scopes: z.array(ScopeSchema),
        limited: z.boolean().meta({
          description: 'Whether it is limited to some servers, tools or toolsets',
        }),
      })
      .meta({ id: 'OwnToken' }),
    {
      example: {
        id: resource.example.id,
        principal: resource.example.principal,
        name: 'Ada',
        groups: ['platform'],
        scopes: resource.example.scopes,
        limited: false,
      },
    },
  ),
});

/** Returns the servers that the caller may know of. */
const knownServers = ({ caller, servers }: Snapshot) =>
  administersAll(caller) ? servers : restrictToCaller(caller, { servers }).servers;

/** Adds the routes. */
export function registerTokens(api: Api, { tokens, findOwnPrincipal }: ApiPorts): void {
  const { toView } = resource;
  registerCreate(api, resource, created, async (body, snapshot) => {
    const { caller, servers } = snapshot;
    const { token, value } = await tokens.create(caller, body, knownServers(snapshot));
    return { record: token, shown: { ...toView(token, servers, snapshot), token: value } };
  });
  registerList(api, resource, listed, tokens);
  registerOne(api, resource, tokens);
  api.openapi(own, async context => {
    const { caller } = context.var.snapshot;
    const { tokenId: id, principalId: principal, scopes } = caller;
    const { name, groups } = await findOwnPrincipal(caller);
    const limited = hasLimits(caller);
    return context.json({ id, principal, name, groups, scopes: [...scopes], limited }, 200);
  });
  api.openapi(rotate, async context => {
    const { snapshot } = context.var;
    const { id } = context.req.valid('param');
    const { grace_seconds: seconds = 0 } = context.req.valid('json');
    const { token, value } = await tokens.rotate(snapshot.caller, id, seconds * 1000);
    return context.json({ ...toView(token, snapshot.servers, snapshot), token: value }, 200);
  });
}
