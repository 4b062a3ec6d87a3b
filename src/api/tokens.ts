/** `/api/v1/tokens`: create, list, revoke. A token's value is in the answer to its creation only. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { CreateTokenSchema, TokenViewSchema, toTokenView } from '../access/token.ts';
import { responsesOf, type Api, type ApiPorts } from './frame.ts';

const PATH = '/api/v1/tokens';
const tags = ['tokens'];

const create = createRoute({
  method: 'post',
  path: PATH,
  tags,
  summary: 'Create a token',
  request: {
    body: { required: true, content: { 'application/json': { schema: CreateTokenSchema } } },
  },
  responses: responsesOf(
    201,
    'The token; its value is shown this once',
    TokenViewSchema.extend({ token: z.string() }),
  ),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  tags,
  summary: 'List tokens',
  responses: responsesOf(200, 'All tokens', z.object({ tokens: z.array(TokenViewSchema) })),
});

const remove = createRoute({
  method: 'delete',
  path: `${PATH}/{id}`,
  tags,
  summary: 'Revoke a token',
  request: { params: z.object({ id: z.string().max(100) }) },
  responses: responsesOf(204, 'Revoked; refused everywhere within a second'),
});

/** Add the routes. */
export function registerTokens(api: Api, { tokens, snapshots }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const { token, value } = await tokens.create(caller, context.req.valid('json'), servers);
    return context.json({ ...toTokenView(token), token: value }, 201);
  });
  api.openapi(list, async context => {
    const found = await tokens.list(context.var.snapshot.caller);
    return context.json({ tokens: found.map(toTokenView) }, 200);
  });
  api.openapi(remove, async context => {
    await tokens.delete(context.var.snapshot.caller, context.req.valid('param').id);
    snapshots.forgetTokens();
    return context.body(null, 204);
  });
}
