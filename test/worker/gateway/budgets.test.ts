/**
 * Budgets of calls are exact over isolates, survive lost memory, end at midnight, and apply for all of a caller's groups; callers without
 * one cost nothing.
 */
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BUDGETS,
  callOnce,
  counterOf,
  groupName,
  reasonOf,
  type BudgetView,
} from '../support/budgets.ts';
import { chunkedRowsOf, createPerson, rowsOf, type Person } from '../support/call-rows.ts';
import { call, connect, ERAS } from '../support/live-calls.ts';
import { createPortico, PATIENT, type Portico, type RpcAnswer } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

const DAY_MS = 86_400_000;
const NOON_MS = DAY_MS / 2;
const MINUTE_MS = 60_000;

/** Sets the clock to the next day's noon, so that no test meets midnight by chance. */
beforeEach(() => {
  const noon = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS + NOON_MS;
  vi.useFakeTimers({ toFake: ['Date'], now: noon });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

const portico = createPortico();
const budgets = createRecords<BudgetView>(portico, BUDGETS);
const toPrincipal = ({ principalId: id }: Person, calls: number) =>
  budgets.create({ subject: { kind: 'principal', id }, calls_per_day: calls });
const toGroup = (name: string, calls: number) =>
  budgets.create({ subject: { kind: 'group', name }, calls_per_day: calls });
/** A person in these groups. */
async function member(groups: readonly string[]): Promise<Person> {
  const person = await createPerson(portico);
  const at = `/api/v1/principals/${person.principalId}`;
  expect((await portico.api('PATCH', at, { groups })).status).toBe(200);
  return person;
}
/** Makes calls one after the other. @returns how many were made, and why others were not */
async function made(through: Portico, { token }: Person, server: string, times: number) {
  const reasons: unknown[] = [];
  for (let n = 0; n < times; n += 1) reasons.push(reasonOf(await callOnce(through, token, server)));
  const refused = new Set(reasons.filter(reason => reason !== undefined));
  return [reasons.filter(reason => reason === undefined).length, ...refused];
}

describe('a budget of calls', () => {
  it('[ACC-6] of 40 lets exactly 40 of 90 calls at once pass, and as many the next day', async () => {
    const { name, server } = await connect('modern');
    const isolates = [0, 1].map(() => createPortico({ PORTICO_CALL_TIMEOUT_MS: '120000' }));
    const person = await createPerson(portico);
    const budget = await toPrincipal(person, 40);
    // Pending writes finish before the clock is moved, since the database keeps its own.
    const passAll = async (ms: number) => {
      await Promise.all(isolates.map(isolate => isolate.settle()));
      pass(ms);
    };
    const atOnce = async () => {
      const answers = await Promise.all(
        Array.from({ length: 90 }, (_, n) => callOnce(isolates[n % 2], person.token, name, { n })),
      );
      return answers.map(reasonOf);
    };
    const today = await atOnce();
    expect(today.filter(reason => reason === undefined)).toHaveLength(40);
    expect(today.filter(reason => reason === 'budget_reached')).toHaveLength(50);
    expect(server.of('tools/call')).toHaveLength(40);
    expect(await budgets.get(budget.id)).toMatchObject({ used_today: 40 });
    await passAll(NOON_MS - MINUTE_MS);
    expect(reasonOf(await callOnce(isolates[0], person.token, name))).toBe('budget_reached');
    await passAll(MINUTE_MS);
    expect(await budgets.get(budget.id)).toMatchObject({ used_today: 0 });
    const tomorrow = await atOnce();
    expect(tomorrow.filter(reason => reason === undefined)).toHaveLength(40);
    await passAll(0);
    const rows = await chunkedRowsOf(portico, person);
    const denied = rows.filter(
      ({ outcome, code }) => `${outcome} ${code}` === 'denied budget_reached',
    );
    expect([rows.length, denied.length]).toEqual([181, 101]);
  });

  it.each(['batched', 'durable', 'before', 'off'])(
    '[ACC-6] is kept when its object loses its memory, with calls recorded %s',
    async mode => {
      const { name } = await connect('modern');
      const through = createPortico({ PORTICO_AUDIT_CALLS: mode });
      const person = await createPerson(portico);
      await toPrincipal(person, 3);
      expect(await made(through, person, name, 2)).toEqual([2]);
      await through.settle();
      await evictDurableObject(counterOf('principal', person.principalId));
      // Another isolate, as after a restart.
      const again = createPortico({ PORTICO_AUDIT_CALLS: mode });
      expect(await made(again, person, name, 3)).toEqual([1, 'budget_reached']);
      await again.settle();
      const rows = await rowsOf(portico, person);
      const outcomes = rows.map(({ outcome, code }) => `${outcome} ${code}`);
      const refused = outcomes.filter(each => each === 'denied budget_reached');
      expect([outcomes.length, refused.length]).toEqual(mode === 'off' ? [0, 0] : [5, 2]);
    },
  );

  it('[ACC-6] of a group is shared by its members, and a refusal counts against no other budget', async () => {
    const { name } = await connect('modern');
    const [wide, narrow] = [groupName(), groupName()];
    const first = await member([wide]);
    const second = await member([wide, narrow]);
    const wideBudget = await toGroup(wide, 6);
    const narrowBudget = await toGroup(narrow, 1);
    const own = await toPrincipal(second, 5);
    expect(await made(portico, second, name, 4)).toEqual([1, 'budget_reached']);
    await portico.settle();
    for (const { id } of [wideBudget, narrowBudget, own]) {
      expect(await budgets.get(id)).toMatchObject({ used_today: 1 });
    }
    expect(await made(portico, first, name, 7)).toEqual([5, 'budget_reached']);
    // A person in no group is not affected.
    expect(await made(portico, await member([]), name, 3)).toEqual([3]);
  });

  it('[ACC-6] that is changed keeps what was used, and so does one that is created again', async () => {
    const { name } = await connect('modern');
    const person = await createPerson(portico);
    const { id } = await toPrincipal(person, 2);
    expect(await made(portico, person, name, 3)).toEqual([2, 'budget_reached']);
    await budgets.edit(id, { calls_per_day: 4 });
    expect(await made(portico, person, name, 3)).toEqual([2, 'budget_reached']);
    await budgets.edit(id, { calls_per_day: 1 });
    expect(await made(portico, person, name, 1)).toEqual([0, 'budget_reached']);
    pass(NOON_MS);
    // Use beyond a reduced budget is no debt of the next day.
    expect(await made(portico, person, name, 2)).toEqual([1, 'budget_reached']);
    await budgets.remove(id);
    expect(await made(portico, person, name, 2)).toEqual([2]);
    await toPrincipal(person, 1);
    expect(await made(portico, person, name, 1)).toEqual([0, 'budget_reached']);
  });

  it('[ACC-6] counts no call that is not sent, and reveals nothing hidden', async () => {
    const { name } = await connect('modern');
    const person = await createPerson(portico);
    const { id } = await toPrincipal(person, 1);
    const unknown = await callOnce(portico, person.token, 'nobody');
    expect(reasonOf(unknown)).toBe(-32602);
    expect(await budgets.get(id)).toMatchObject({ used_today: 0 });
    expect(await made(portico, person, name, 2)).toEqual([1, 'budget_reached']);
    // An unknown name gives the same answer as before.
    expect(await callOnce(portico, person.token, 'nobody')).toEqual(unknown);
  });

  it.each(['batched', 'off'])(
    '[ACC-6] counts no call that an open circuit refuses, with calls recorded %s',
    async mode => {
      const { id: serverId, name } = await connect('modern');
      await env.DB.prepare('UPDATE servers SET circuit_retry_at = ? WHERE id = ?')
        .bind(Date.now() + DAY_MS, serverId)
        .run();
      const through = createPortico({ PORTICO_AUDIT_CALLS: mode });
      const person = await createPerson(portico);
      const { id } = await toPrincipal(person, 5);
      expect(await made(through, person, name, 3)).toEqual([0, 'circuit_open']);
      await through.settle();
      await vi.waitFor(
        async () => expect(await budgets.get(id)).toMatchObject({ used_today: 0 }),
        PATIENT,
      );
    },
  );

  it.each(['batched', 'off'])(
    '[ACC-6] counts no call of a caller that lacks the account for it, with calls recorded %s',
    async mode => {
      const { name } = await connect('modern', false, portico, { accounts: 'per_principal' });
      const through = createPortico({ PORTICO_AUDIT_CALLS: mode });
      const person = await createPerson(portico);
      const { id } = await toPrincipal(person, 2);
      expect(await made(through, person, name, 3)).toEqual([0, 'account_required']);
      await through.settle();
      await vi.waitFor(
        async () => expect(await budgets.get(id)).toMatchObject({ used_today: 0 }),
        PATIENT,
      );
      const account = { server: name, token: 'of-them' };
      await portico.api('POST', '/api/v1/accounts', account, { token: person.token });
      expect(await made(createPortico(), person, name, 3)).toEqual([2, 'budget_reached']);
    },
  );

  it.each(ERAS)('[ACC-6] is reported to a %s client, and over REST, with its end', async era => {
    const { name } = await connect('modern');
    const group = groupName();
    const { token } = await member([group]);
    const { ends_at: endsAt } = await toGroup(group, 1);
    const { message, headers } = call(name, era);
    await portico.post(message, { headers, token }).then(response => response.text());
    const answer = await (await portico.post(message, { headers, token })).json<RpcAnswer>();
    const told = `The group ${group} has used up the budget of 1 call a day; the next day begins at ${endsAt}`;
    expect(answer.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(told) as unknown }],
      _meta: { 'portico/reason': 'budget_reached', 'portico/retryAfter': NOON_MS / 1_000 },
    });
    const body = { name: `${name}.echo` };
    const refused = await portico.api('POST', '/api/v1/tools/call', body, { token });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '43200']);
    expect(await refused.json()).toMatchObject({ code: 'budget_reached', detail: told });
  });

  it('[ACC-6] gives back calls that were not sent once, and never for another day', async () => {
    const group = groupName();
    const counter = counterOf('group', group);
    const limits = [{ name: '', perMinute: 0, burst: 10, isDaily: true as const }];
    const draw = (id: string, waiting: number, ahead = 0) =>
      counter.drawBudget(`budget:group:${group}`, { id, limits, waiting, ahead });
    const day = Math.floor(Date.now() / DAY_MS);
    expect(await draw('a', 8)).toMatchObject({ passed: 8, spare: 0 });
    await counter.refundBudget('r', day - 1);
    expect(await counter.budgetUsed()).toBe(8);
    await counter.refundBudget('s', day);
    await counter.refundBudget('s', day);
    expect(await counter.budgetUsed()).toBe(7);
    expect(await draw('b', 4)).toMatchObject({
      passed: 3,
      retryAfterMs: expect.any(Number) as unknown,
    });
    // The clock of another machine shows the day before.
    pass(-DAY_MS);
    expect(await draw('c', 1)).toMatchObject({ passed: 0 });
    pass(DAY_MS);
    expect(await draw('d', 1)).toMatchObject({ passed: 0 });
    pass(NOON_MS);
    await counter.refundBudget('t', day);
    expect(await counter.budgetUsed()).toBe(0);
    expect(await draw('e', 11)).toMatchObject({ passed: 10 });
  });

  it('[ACC-6] is leased until midnight at most, and returns after it count for nothing', async () => {
    const group = groupName();
    const counter = counterOf('group', group);
    const limits = [{ name: '', perMinute: 0, burst: 100, isDaily: true as const }];
    const draw = (id: string, waiting: number, ahead = 0) =>
      counter.drawBudget(`budget:group:${group}`, { id, limits, waiting, ahead });
    expect(await draw('a', 1, 8)).toMatchObject({ passed: 1, spare: 8, lastsMs: 5_000 });
    pass(NOON_MS - 1_000);
    const { passed, spare, lastsMs } = await draw('b', 1, 8);
    expect([passed, spare]).toEqual([1, 8]);
    expect(lastsMs).toBeLessThanOrEqual(1_000);
    await counter.giveBackBudget('b', 3);
    await counter.giveBackBudget('b', 3);
    expect(await counter.budgetUsed()).toBe(15);
    pass(2_000);
    await draw('c', 1);
    await counter.giveBackBudget('a', 8);
    expect(await counter.budgetUsed()).toBe(1);
  });

  it('[ACC-6] [EDGE-3] costs a caller without one nothing: no object is asked', async () => {
    const { name } = await connect('modern');
    await toGroup(groupName(), 1);
    const person = await createPerson(portico);
    const asks = vi.spyOn(env.AUDIT_LOG, 'getByName');
    const counters = () =>
      asks.mock.calls.map(([object]) => object).filter(object => object.startsWith('budget:'));
    expect(await made(portico, person, name, 2)).toEqual([2]);
    expect(counters()).toEqual([]);
    await toPrincipal(person, 5);
    const before = counters().length;
    expect(await made(portico, person, name, 1)).toEqual([1]);
    expect(counters().slice(before)).toEqual([`budget:principal:${person.principalId}`]);
  });
});
