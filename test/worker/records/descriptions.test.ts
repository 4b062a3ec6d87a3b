/** Descriptions of records: one of only spaces is none, whoever writes it. */
import { beforeAll, expect, it } from 'vitest';
import { createPortico, register } from '../support/portico.ts';

const portico = createPortico();
const BLANK = ' \n\t';

beforeAll(() => register(portico, 'forge', { auto_connect: false }));

it.each<[string, object]>([
  ['toolsets', { name: 'blank', include: ['*'] }],
  ['access/rules', { effect: 'allow', subject: { kind: 'everyone' } }],
  ['cache/rules', { server: 'forge', tool: 'a', ttl_seconds: 1 }],
  ['ask/allowlist', { server: 'forge', tool: 'a' }],
  ['skills', { name: 'blank' }],
  [
    'aggregator/servers',
    {
      name: 'blank',
      transport_type: 'HTTP',
      connection_config: { url: 'https://blank.example/mcp' },
      auto_connect: false,
    },
  ],
])('[OPS-1] [REG-1] of %s are not made of spaces', async (path, body) => {
  const sent = { ...body, description: BLANK };
  const response = await portico.api('POST', `/api/v1/${path}`, sent);
  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ description: '' });
});

it('[ACC-4] of tools in a toolset neither', async () => {
  const overrides = [{ server: 'forge', tool: 'a', description: BLANK }];
  const body = { name: 'told', include: ['*'], overrides };
  const made = await portico.api('POST', '/api/v1/toolsets', body);
  expect(made.status).toBe(201);
  const { overrides: kept } = await made.json<{ overrides: object[] }>();
  expect(kept).toEqual([{ server: 'forge', tool: 'a' }]);
});
