/** `portico budgets` against a real gateway: budgets are enforced and shown, and their usage survives a power cut. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

interface Budget {
  id: string;
  used_today: number;
  calls_per_day: number;
}

let data: string;
let gateway: Gateway;
let upstream: Upstream;

const portico = (args: string, token = gateway.adminToken): Promise<Ran> =>
  runPortico(args.split(' '), { env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: token } });
const call = (token: string) => portico('call rich.echo --message a', token);

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-budgets-'));
  [gateway, upstream] = await Promise.all([startGateway({ data }), startFixture('rich-modern')]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(data, { recursive: true, force: true });
});

it('[CLI-4] [ACC-6] sets how many calls a group may make in a day, and shows the usage', async () => {
  expect((await portico('budgets')).err).toContain('no budgets yet; portico budgets add');
  const made = await gateway.api('POST', '/api/v1/principals', { name: 'Ada', groups: ['dev'] });
  const { token } = await gateway.createToken({ name: 'laptop', principal: made.json['id'] });
  const added = await portico('budgets add --subject group:dev --calls 3 --json');
  const { id } = added.json<Budget>();
  expect(await portico('budgets add --subject group:dev --calls 3')).toMatchObject({ code: 1 });
  expect(await portico('budgets add --subject everyone --calls 3')).toMatchObject({ code: 2 });
  expect(await portico('budgets add --subject group:ops --calls many')).toMatchObject({
    code: 2,
    err: expect.stringContaining('whole number') as unknown,
  });
  expect([(await call(token)).code, (await call(token)).code]).toEqual([0, 0]);
  const list = await portico('budgets');
  expect(list.out).toMatch(/^ID +SUBJECT +CALLS A DAY +USED TODAY +RESETS\n/);
  expect(list.out).toMatch(/^\S+ +group:dev +3 +2 +\d{4}-\d\d-\d\dT00:00:00\.000Z$/m);
  // Like a power cut: nothing is written on shutdown.
  await gateway.kill();
  gateway = await startGateway({ data, adminToken: gateway.adminToken });
  expect((await call(token)).code).toBe(0);
  const refused = await call(token);
  expect(refused.code).not.toBe(0);
  expect(`${refused.out}${refused.err}`).toContain(
    'The group dev has used up the budget of 3 calls a day',
  );
  const show = async () => (await portico(`budgets show ${id} --json`)).json<Budget>();
  expect(await show()).toMatchObject({ used_today: 3 });
  expect(await portico(`budgets edit ${id} --calls 4`)).toMatchObject({ code: 0 });
  expect([(await call(token)).code, await show()]).toMatchObject([0, { used_today: 4 }]);
  expect(await portico(`budgets remove ${id}`)).toMatchObject({ code: 0 });
  expect((await call(token)).code).toBe(0);
});
