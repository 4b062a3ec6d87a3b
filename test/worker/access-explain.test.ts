/** Why somebody may use a tool or not, as administrators ask it: the same decision as that of requests. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeServer, serve } from './fake-server.ts';
import { createPortico, createToken, registerConnected, type CreatedToken } from './portico.ts';

const portico = createPortico();
const EXPLAIN = '/api/v1/access/explain';
let principal: string;
let rule: string;
let narrow: CreatedToken;

async function explain(body: object): Promise<Record<string, unknown>> {
  const response = await portico.api('POST', EXPLAIN, body);
  return { status: response.status, ...(await response.json<object>()) };
}

beforeAll(async () => {
  serve({ explained: new FakeServer() });
  await registerConnected(portico, 'explained');
  const made = await portico.api('POST', '/api/v1/principals', { name: 'ada', groups: ['dev'] });
  principal = (await made.json<{ id: string }>()).id;
  narrow = await createToken(portico, { principal, tools: ['explained.e*'] });
  const subject = { kind: 'group', name: 'dev' };
  const body = { effect: 'deny', subject, server: 'explained', tool: 'drop' };
  rule = (await (await portico.api('POST', '/api/v1/access/rules', body)).json<{ id: string }>())
    .id;
});

describe('an explanation', () => {
  it('[ACC-3] names the rule that decides', async () => {
    expect(await explain({ principal, server: 'EXPLAINED', tool: 'drop' })).toMatchObject({
      status: 200,
      is_allowed: false,
      decided_by: 'rule',
      rule,
      principal,
      groups: ['dev'],
      is_read_only: null,
    });
  });

  it('[ACC-3] says that no rule does, or a limit of the token', async () => {
    expect(await explain({ principal, server: 'explained', tool: 'echo' })).toMatchObject({
      is_allowed: true,
      decided_by: 'posture',
      rule: null,
      posture: 'open',
      is_read_only: false,
    });
    expect(await explain({ token: narrow.id, server: 'explained', tool: 'echo' })).toMatchObject({
      is_allowed: true,
    });
    expect(await explain({ token: narrow.id, server: 'explained', tool: 'move' })).toMatchObject({
      is_allowed: false,
      decided_by: 'token_tools',
    });
  });

  it('[ACC-3] is of what there is, and for administrators', async () => {
    const missing = [
      { principal: 'nobody', server: 'explained', tool: 'echo' },
      { token: 'none', server: 'explained', tool: 'echo' },
      { principal, server: 'nowhere', tool: 'echo' },
    ];
    for (const body of missing) expect(await explain(body)).toMatchObject({ status: 404 });
    expect(await explain({ server: 'explained', tool: 'echo' })).toMatchObject({ status: 422 });
    const body = { principal, server: 'explained', tool: 'echo' };
    const { status } = await portico.api('POST', EXPLAIN, body, { token: narrow.token });
    expect(status).toBe(403);
  });
});
