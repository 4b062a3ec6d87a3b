/** Budgets of calls over REST: created, shown, edited and deleted, one per subject, by administrators only. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createPerson } from '../support/call-rows.ts';
import { BUDGETS, groupName, type BudgetView } from '../support/budgets.ts';
import { createPortico } from '../support/portico.ts';
import { createRecords, etagOf } from '../support/records.ts';

const portico = createPortico();
const budgets = createRecords<BudgetView>(portico, BUDGETS);
const ofGroup = (name: string) => ({ subject: { kind: 'group', name }, calls_per_day: 5 });

describe('a budget', () => {
  it('[ACC-6] is created, shown, edited with a revision check and deleted', async () => {
    const { principalId } = await createPerson(portico);
    const subject = { kind: 'principal', id: principalId };
    const made = await budgets.create({ subject, calls_per_day: 5 });
    expect(made).toMatchObject({ subject, calls_per_day: 5, used_today: 0, revision: 1 });
    const endsAt = Date.parse(made.ends_at);
    expect(endsAt % 86_400_000).toBe(0);
    expect(endsAt - Date.now()).toBeGreaterThan(0);
    expect(endsAt - Date.now()).toBeLessThanOrEqual(86_400_000);
    expect(await budgets.get(made.id)).toEqual(made);
    expect(await budgets.list(`subject_kind=principal&subject=${principalId}`)).toEqual({
      budgets: [made],
      total: 1,
    });
    expect(await budgets.edit(made.id, { calls_per_day: 6 })).toMatchObject({
      subject,
      calls_per_day: 6,
      revision: 2,
    });
    expect(await etagOf(portico, `${BUDGETS}/${made.id}`)).toBe('"r2"');
    const stale = { 'if-match': '"r1"' };
    expect(
      await budgets.refusal('PATCH', `/${made.id}`, { calls_per_day: 7 }, stale),
    ).toMatchObject({ code: 'precondition_failed' });
    await budgets.remove(made.id);
    expect(await budgets.refusal('GET', `/${made.id}`)).toMatchObject({ status: 404 });
    expect(await budgets.refusal('DELETE', `/${made.id}`)).toMatchObject({ status: 404 });
  });

  it.each<[string, object, object]>([
    ['of no calls', { calls_per_day: 0 }, { fields: ['calls_per_day'] }],
    ['of half a call', { calls_per_day: 1.5 }, { fields: ['calls_per_day'] }],
    ['of too many calls', { calls_per_day: 1_000_000_001 }, { fields: ['calls_per_day'] }],
    ['of nobody', { subject: { kind: 'principal', id: 'nobody' } }, { fields: ['subject.id'] }],
    ['of everyone', { subject: { kind: 'everyone' } }, {}],
    ['of what no budget has', { per_hour: 1 }, {}],
  ])('[ACC-6] %s is refused', async (_what, more, problem) => {
    const body = { ...ofGroup(groupName()), ...more };
    const refusal = { code: 'validation_failed', status: 422, ...problem };
    expect(await budgets.refusal('POST', '', body)).toMatchObject(refusal);
  });

  it('[ACC-6] is the only one of its subject, which is fixed, and is deleted with its principal', async () => {
    const body = ofGroup(groupName());
    const { id } = await budgets.create(body);
    expect(await budgets.refusal('POST', '', body)).toMatchObject({
      code: 'conflict',
      status: 409,
    });
    expect(await budgets.refusal('PATCH', `/${id}`, ofGroup(groupName()))).toMatchObject({
      code: 'validation_failed',
    });
    const { principalId } = await createPerson(portico);
    const own = { kind: 'principal', id: principalId };
    const made = await budgets.create({ subject: own, calls_per_day: 1 });
    const deleted = await portico.api('DELETE', `/api/v1/principals/${principalId}`);
    expect(deleted.status).toBe(204);
    expect(await budgets.refusal('GET', `/${made.id}`)).toMatchObject({ status: 404 });
  });

  it('[ACC-6] [SEC-6] is changed only by administrators, with an audit row for each change', async () => {
    const { id } = await budgets.create(ofGroup(groupName()));
    await budgets.edit(id, { calls_per_day: 8 });
    await budgets.remove(id);
    const select = 'SELECT action, detail FROM audit_events WHERE subject = ? ORDER BY at, seq';
    const { results: rows } = await env.DB.prepare(select)
      .bind(id)
      .all<{ action: string; detail: string }>();
    expect(rows.map(({ action }) => action)).toEqual([
      'budget.create',
      'budget.update',
      'budget.delete',
    ]);
    expect(JSON.parse(rows[1]?.detail ?? '')).toMatchObject({ calls_per_day: 8 });
    const { token } = await createPerson(portico);
    for (const [method, path] of [
      ['GET', BUDGETS],
      ['GET', `${BUDGETS}/${id}`],
      ['DELETE', `${BUDGETS}/${id}`],
      ['POST', BUDGETS],
    ] as const) {
      const body = method === 'POST' ? ofGroup(groupName()) : undefined;
      expect((await portico.api(method, path, body, { token })).status).toBe(403);
    }
  });
});
