/**
 * `/api/v1/keys`: how many records are under which key of the key ring; and key rotation, a bounded number of records per request (SEC-1).
 */
import { KeysViewSchema, RotatedSchema, RotateSchema } from '../credentials/rotation-schema.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

const PATH = '/api/v1/keys';
const tags = ['keys'];

const report = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'getKeys',
  tags,
  summary: 'Count the records that each key seals',
  ...needs('admin'),
  responses: responsesOf(
    200,
    'Ids of keys and counts; never keys',
    KeysViewSchema.meta({ id: 'Keys' }),
    {
      example: {
        active: 'k2',
        keys: [
          {
            id: 'k1',
            in_ring: true,
            secrets: 40,
            servers: 2,
            access_tokens: 0,
            accounts: 0,
            tokens: 3,
          },
          {
            id: 'k2',
            in_ring: true,
            secrets: 960,
            servers: 8,
            access_tokens: 1,
            accounts: 5,
            tokens: 9,
          },
        ],
        remaining: 42,
        tokens_remaining: 3,
      },
    },
  ),
});

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/rotate`,
  operationId: 'rotateKeys',
  tags,
  summary: 'Reseal the next records with the active key',
  ...needs('admin'),
  request: {
    body: bodyOf(RotateSchema.meta({ id: 'RotateKeys' }), { limit: 50 }),
  },
  responses: responsesOf(
    200,
    'Progress; continue with `next` until it is null',
    RotatedSchema.meta({ id: 'RotatedKeys' }),
    {
      example: {
        active: 'k2',
        total: 1_000,
        rotated: 50,
        remaining: 0,
        unreadable: 0,
        next: null,
      },
    },
  ),
});

/** Adds the routes. */
export function registerKeys(api: Api, { rotation }: ApiPorts): void {
  api.openapi(report, async context =>
    context.json(await rotation.report(context.var.snapshot.caller), 200),
  );
  api.openapi(rotate, async context => {
    const { caller } = context.var.snapshot;
    return context.json(await rotation.rotate(caller, context.req.valid('json')), 200);
  });
}
