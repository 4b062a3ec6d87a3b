/** What is kept of a record is what was sent: text that UTF-8 cannot hold is refused, and what is there stays as it was. */
import { expect, it } from 'vitest';
import { createPortico, SERVERS } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

const portico = createPortico();
/** The second half of a character, and the first. */
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
])('[REG-1] %s holds whole characters only', async (path, body, field, key) => {
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
