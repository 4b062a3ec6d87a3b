/** `/api/v1/secrets`: put, list, compare, delete. No response ever holds a value (SEC-1). */
import { z } from 'zod';
import {
  CompareSecretsSchema,
  PutSecretSchema,
  SecretNameSchema,
  SecretViewSchema,
  toSecretView,
} from '../credentials/secret-schema.ts';
import { ifStillHeaders, parseIfStill, toETag } from './etag.ts';
import { bodyOf, createRoute, ETAG, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { wholeText } from './whole-text.ts';

const PATH = '/api/v1/secrets';
const tags = ['secrets'];
const SecretSchema = SecretViewSchema.meta({ id: 'Secret' });
const example = {
  name: 'GITHUB_TOKEN',
  origins: ['https://mcp.example.com'],
  servers: [],
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const put = createRoute({
  method: 'put',
  path: `${PATH}/{name}`,
  operationId: 'putSecret',
  tags,
  summary: 'Make a secret, or replace its value and origins',
  ...needs('secrets:write'),
  request: {
    params: z.object({ name: SecretNameSchema.meta({ description: 'Name of the secret' }) }),
    headers: ifStillHeaders,
    body: bodyOf(PutSecretSchema.meta({ id: 'PutSecret' }), {
      value: 'a-secret-value',
      origins: example.origins,
    }),
  },
  errors: ['conflict', 'precondition_failed'],
  responses: responsesOf(
    200,
    'The record without its value; servers use it within a second',
    SecretSchema,
    { headers: ETAG, example },
  ),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listSecrets',
  tags,
  summary: 'List secrets',
  ...needs('secrets:write'),
  responses: responsesOf(
    200,
    'Names, origins and the servers that refer to them; never values',
    z.object({ secrets: z.array(SecretSchema) }),
    { example: { secrets: [example] } },
  ),
});

const compare = createRoute({
  method: 'post',
  path: `${PATH}/compare`,
  operationId: 'compareSecrets',
  tags,
  summary: 'Check which secrets have the given values',
  description: 'This shows whether a configuration file would change a secret.',
  ...needs('secrets:write'),
  request: {
    body: bodyOf(CompareSecretsSchema.meta({ id: 'CompareSecrets' }), {
      secrets: [{ name: example.name, value: 'a-secret-value' }],
    }),
  },
  responses: responsesOf(
    200,
    'Names of the secrets that have exactly the given value',
    z.object({ same: z.array(z.string()) }),
    { example: { same: [example.name] } },
  ),
});

const remove = createRoute({
  method: 'delete',
  path: `${PATH}/{name}`,
  operationId: 'deleteSecret',
  tags,
  summary: 'Delete a secret that no server and no sign-in provider refers to',
  ...needs('secrets:write'),
  request: {
    params: z.object({ name: z.string().max(100).meta({ description: 'Name of the secret' }) }),
  },
  errors: ['conflict'],
  responses: responsesOf(204, 'Deleted'),
});

/** Adds the routes. */
export function registerSecrets(api: Api, { secrets }: ApiPorts): void {
  api.openapi(put, async context => {
    const { name } = context.req.valid('param');
    const { caller } = context.var.snapshot;
    const ifRevision = parseIfStill(context.req.valid('header'));
    const body = wholeText(context.req.valid('json'));
    const { secret, users } = await secrets.put(caller, name, body, ifRevision);
    return context.json(toSecretView(secret, users), 200, { etag: toETag(secret.revision) });
  });
  api.openapi(list, async context => {
    const found = await secrets.list(context.var.snapshot.caller);
    const views = found.secrets.map(secret => toSecretView(secret, found.users));
    return context.json({ secrets: views }, 200);
  });
  api.openapi(compare, async context => {
    const { caller } = context.var.snapshot;
    return context.json({ same: await secrets.compare(caller, context.req.valid('json')) }, 200);
  });
  api.openapi(remove, async context => {
    await secrets.delete(context.var.snapshot.caller, context.req.valid('param').name);
    return context.body(null, 204);
  });
}
