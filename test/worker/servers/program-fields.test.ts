/** The fields of a program's registration: one that does not exist is refused, as for any other server. */
import { expect, it } from 'vitest';
import { enrol } from '../support/fake-machine.ts';
import { createPortico, SERVERS } from '../support/portico.ts';

const portico = createPortico();

it.each([
  ['args', ['x']],
  ['headers', { Authorization: 'Bearer x' }],
  ['auth', { type: 'bearer', token: 'x' }],
  ['url', 'https://elsewhere.example.com/mcp'],
  ['conector', 'box'],
])('[REG-1] %s is refused for a program, and nothing is registered', async (field, value) => {
  const connector = `of-${field}`;
  await enrol(portico, connector);
  const body = (more: object) => ({
    name: `program-${field}`,
    transport_type: 'STDIO',
    connection_config: { connector, server: 'x', ...more },
  });
  const refused = await portico.api('POST', SERVERS, body({ [field]: value }));
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain(`"${field}`);
  expect((await portico.api('POST', SERVERS, body({}))).status).toBe(201);
});
