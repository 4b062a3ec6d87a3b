/** Records are stored exactly as sent: text with a lone surrogate is refused, and the record stays as it was. */
import { expect, it } from 'vitest';
import { createPortico, SERVERS } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

const portico = createPortico();
/** A low surrogate alone, and a high one at the end. */
const HALVES = ['\udc00', 'a\ud800'];

const server = {
  name: 'first',
  transport_type: 'HTTP',
  connection_config: { url: 'https://mcp.example.com/mcp' },
  auto_connect: false,
};
const rule = { effect: 'deny', subject: { kind: 'everyone' } };

it.each<[path: string, body: object, field: string, key: string]>([
  ['/api/v1/principals', { name: 'Ada' }, 'name', 'principals'],
  ['/api/v1/access/rules', rule, 'tool', 'rules'],
  [SERVERS, server, 'description', 'servers'],
])('[REG-1] %s refuses lone surrogates when created', async (path, body, field, key) => {
  const records = createRecords<{ id: string }>(portico, path);
  const refused = { status: 422, code: 'validation_failed', fields: [field] };
  for (const half of HALVES) {
    expect(await records.refusal('POST', '', { ...body, [field]: half })).toEqual(refused);
  }
  expect(await records.list()).toMatchObject({ [key]: [], total: 0 });
  const whole = { ...body, [field]: 'a😀' };
  const { id } = await records.create(whole);
  const made = await records.get(id);
  expect(made).toMatchObject({ [field]: 'a😀' });
  for (const half of HALVES) {
    expect(await records.refusal('PATCH', `/${id}`, { [field]: half })).toEqual(refused);
  }
  expect(await records.get(id)).toEqual(made);
});

it.each<[method: string, path: string, body: object, field: string]>([
  [
    'PUT',
    '/api/v1/secrets/GITHUB',
    { value: 'a\ud800', origins: ['https://mcp.example.com'] },
    'value',
  ],
  ['PUT', '/api/v1/owners', { kind: 'rule', id: 'r', owner: 'file', key: '\udc00' }, 'key'],
])('[REG-1] %s %s refuses lone surrogates', async (method, path, body, field) => {
  const answer = await portico.api(method, path, body);
  const { code, errors } = (await answer.json()) as { code: string; errors: { field: string }[] };
  const fields = errors.map(one => one.field);
  expect([answer.status, code, fields]).toEqual([422, 'validation_failed', [field]]);
});
