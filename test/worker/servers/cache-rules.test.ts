/**
 * Rules of the result cache over REST: created, shown, edited with a revision check, applied at once; and the effect of an edit on cached
 * results.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  callCached,
  connectCached,
  person,
  RULES,
  type CacheRuleView,
} from '../support/cached-servers.ts';
import { createPortico, SERVERS, whenServer } from '../support/portico.ts';
import { createRecords, etagOf } from '../support/records.ts';

const portico = createPortico();
const rules = createRecords<CacheRuleView>(portico, RULES);

describe('a rule', () => {
  it('[LLM-5] is created, shown, edited and deleted', async () => {
    const { name, id } = await connectCached(portico);
    const body = { server: id, tool: 'get', ttl_seconds: 60 };
    const response = await portico.api('POST', RULES, body);
    expect(response.status).toBe(201);
    const made = await response.json<CacheRuleView>();
    expect(made).toMatchObject({ server: name, tool: 'get', ttl_seconds: 60, public: false });
    expect(response.headers.get('location')).toBe(`${RULES}/${made.id}`);
    expect(await rules.get(made.id)).toEqual(made);
    expect(await rules.list(`server=${name}`)).toEqual({ rules: [made], total: 1 });
    const edited = await rules.edit(made.id, { ttl_seconds: 5, public: true });
    expect(edited).toMatchObject({ ttl_seconds: 5, public: true, tool: 'get', revision: 2 });
    expect(await etagOf(portico, `${RULES}/${made.id}`)).toBe('"r2"');
    const stale = { 'if-match': '"r1"' };
    expect(await rules.refusal('PATCH', `/${made.id}`, { public: false }, stale)).toMatchObject({
      code: 'precondition_failed',
    });
    await rules.remove(made.id);
    expect(await rules.refusal('GET', `/${made.id}`)).toMatchObject({ status: 404 });
    expect(await rules.refusal('DELETE', `/${made.id}`)).toMatchObject({ status: 404 });
    expect(await rules.refusal('PATCH', `/${made.id}`, {})).toMatchObject({ status: 404 });
  });

  it.each<[string, object, object]>([
    ['of no server', { server: 'nobody' }, { code: 'validation_failed', fields: ['server'] }],
    ['without a time', { ttl_seconds: undefined }, { code: 'validation_failed' }],
    ['of no time', { ttl_seconds: 0 }, { code: 'validation_failed' }],
    ['of too long a time', { ttl_seconds: 86_401 }, { code: 'validation_failed' }],
    ['of a pattern that is wild', { tool: '*'.repeat(9) }, { code: 'validation_failed' }],
    ['of what no rule has', { readOnly: true }, { code: 'validation_failed' }],
  ])('[LLM-5] %s is refused', async (_what, more, problem) => {
    const { name } = await connectCached(portico);
    const body = { server: name, tool: 'get', ttl_seconds: 60, ...more };
    expect(await rules.refusal('POST', '', body)).toMatchObject(problem);
  });

  it('[LLM-5] is the only one for its tools, and is deleted with its server', async () => {
    const { id, allow, name } = await connectCached(portico);
    await allow();
    const body = { server: name, tool: 'get', ttl_seconds: 1 };
    expect(await rules.refusal('POST', '', body)).toMatchObject({ code: 'conflict', status: 409 });
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    const left = env.DB.prepare('SELECT count(*) AS n FROM cache_rules WHERE server_id = ?');
    expect(await left.bind(id).first('n')).toBe(0);
  });

  it('[LLM-5] [SEC-6] is changed by administrators only, with audit rows', async () => {
    const { allow, id } = await connectCached(portico);
    const rule = await allow();
    await rules.edit(rule.id, { ttl_seconds: 7 });
    await rules.remove(rule.id);
    const select = 'SELECT action, detail FROM audit_events WHERE subject = ? ORDER BY at, seq';
    const { results: rows } = await env.DB.prepare(select)
      .bind(rule.id)
      .all<{ action: string; detail: string }>();
    expect(rows.map(({ action }) => action)).toEqual([
      'cache_rule.create',
      'cache_rule.update',
      'cache_rule.delete',
    ]);
    expect(JSON.parse(rows[0]?.detail ?? '')).toMatchObject({ server_id: id, ttl_seconds: 600 });
    const token = await person(portico);
    for (const [method, path] of [
      ['GET', RULES],
      ['GET', `${RULES}/${rule.id}`],
    ] as const) {
      expect((await portico.api(method, path, undefined, { token })).status).toBe(403);
    }
  });
});

describe('a cached result', () => {
  it.each<[string, (id: string, ruleId: string) => Promise<unknown>]>([
    ['the server is edited', id => portico.api('PATCH', `${SERVERS}/${id}`, { description: 'x' })],
    [
      'the credential is another',
      id =>
        portico.api('PATCH', `${SERVERS}/${id}`, {
          connection_config: { headers: { 'x-key': 'k' } },
        }),
    ],
    ['the rule is edited', (_id, rule) => rules.edit(rule, { description: 'x' })],
    [
      'the rule is made anew',
      async (id, rule) => {
        await rules.remove(rule);
        await rules.create({ server: id, tool: '*', ttl_seconds: 600 });
      },
    ],
  ])('[LLM-5] is not used any more once %s', async (_what, change) => {
    const { id, name, allow, count } = await connectCached(portico);
    const rule = await allow();
    await callCached(portico, name);
    expect((await callCached(portico, name)).note?.hit).toBe(true);
    await change(id, rule.id);
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    const before = count();
    expect((await callCached(portico, name)).note).toMatchObject({ hit: false });
    expect(count()).toBe(before + 1);
  });

  it('[LLM-5] is not used once the rule is deleted, at once', async () => {
    const { name, allow } = await connectCached(portico);
    const rule = await allow();
    await callCached(portico, name);
    await rules.remove(rule.id);
    expect((await callCached(portico, name)).note).toBeUndefined();
  });
});
