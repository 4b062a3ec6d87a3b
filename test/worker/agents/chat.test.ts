/** Chats in the Worker: how they are stored, claimed, sealed and deleted, and the error of a deployment without a model. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { ChatRecords, LEASE_MS, MAX_RUNNING } from '../../../src/agents/chat/chat-records.ts';
import { NOTHING_SPENT, type ChatState } from '../../../src/agents/chat/chat-state.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { ask as toCall, createPortico, type RpcAnswer } from '../support/portico.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'what nobody but its principal may read';
const state: ChatState = {
  version: 1,
  format: 'openai-chat',
  model: 'm',
  messages: [{ role: 'user', text: SECRET }],
  turn: [],
  log: [],
  lastCall: 0,
  spent: NOTHING_SPENT,
  limits: { steps: 1, calls: 1, tokens: 1, seconds: 1, costUsd: undefined },
  approve: 'writes',
  only: {},
  answer: '',
};
const keys = createKeyRing(env.PORTICO_KEYS);
let now: number;
const records = new ChatRecords({
  db: env.DB,
  keys,
  keptMs: HOUR_MS,
  maxKept: 3,
  now: () => now,
});
let principal: string;
beforeEach(() => {
  now = Date.now();
  principal = crypto.randomUUID();
});

/** An idle chat. */
async function rested(): Promise<string> {
  const claim = await records.create(principal, state);
  if (!claim || !(await records.write(claim, 'idle', state))) throw new Error('not made');
  return claim.id;
}
const get = async (id: string) => {
  const found = await records.find(principal, id);
  if (!found) throw new Error('there is none');
  return found;
};

describe('a stored chat', () => {
  it('[LLM-3] [SEC-1] is sealed for its principal and its row', async () => {
    const [id, other] = [await rested(), await rested()];
    const row = await env.DB.prepare('SELECT * FROM chats WHERE id = ?').bind(id).first();
    expect(JSON.stringify(row)).not.toContain('nobody but');
    expect((await get(id)).state).toEqual(JSON.parse(JSON.stringify(state)));
    expect(await records.find('somebody else', id)).toBeUndefined();
    const move = 'UPDATE chats SET sealed = (SELECT sealed FROM chats WHERE id = ?) WHERE id = ?';
    await env.DB.prepare(move).bind(id, other).run();
    expect(await records.find(principal, other)).toBeUndefined();
    await env.DB.prepare('UPDATE chats SET principal_id = ? WHERE id = ?').bind('thief', id).run();
    expect(await records.find('thief', id)).toBeUndefined();
  });

  it('[LLM-3] is claimed by one of many requests, at the revision that was read', async () => {
    const found = await get(await rested());
    const claims = await Promise.all(Array.from({ length: 20 }, () => records.claim(found, state)));
    expect(claims.filter(claim => claim !== undefined)).toHaveLength(1);
    expect(await records.claim(await get(found.row.id), state)).toBeUndefined();
  });

  it('[LLM-3] passes to another claim once its runner stops renewing, and the former runner can no longer write', async () => {
    const first = await records.create(principal, state);
    if (!first) throw new Error('not made');
    expect(await records.renew(first)).toEqual({ isStopped: false });
    now += LEASE_MS + 1;
    const second = await records.claim(await get(first.id), state);
    expect(second).toBeDefined();
    expect(await records.write(first, 'running', state)).toBe(false);
    expect(await records.renew(first)).toBeUndefined();
    expect(second && (await records.write(second, 'idle', state))).toBe(true);
  });

  it('[LLM-3] can be stopped by its own principal', async () => {
    const claim = await records.create(principal, state);
    if (!claim) throw new Error('not made');
    await records.requestStop('somebody else', claim.id);
    expect(await records.renew(claim)).toEqual({ isStopped: false });
    await records.requestStop(principal, claim.id);
    expect(await records.renew(claim)).toEqual({ isStopped: true });
    expect(await records.delete('somebody else', claim.id)).toBe(false);
    expect(await records.delete(principal, claim.id)).toBe(true);
    expect(await records.renew(claim)).toBeUndefined();
  });

  it('[LLM-3] expires after its TTL, and its row is deleted with the next one', async () => {
    const id = await rested();
    now += HOUR_MS;
    expect(await records.find(principal, id)).toBeUndefined();
    await rested();
    expect(await env.DB.prepare('SELECT 1 FROM chats WHERE id = ?').bind(id).first()).toBeNull();
  });

  it('[LLM-3] is not deleted while it runs, even after its time', async () => {
    const running = await records.create(principal, state);
    if (!running) throw new Error('not made');
    now += HOUR_MS;
    await records.renew(running);
    await rested();
    expect(await records.write(running, 'idle', state)).toBe(true);
    expect(await records.find(principal, running.id)).toBeDefined();
  });

  it('[LLM-3] is replaced by a newer one of its principal, unless it runs', async () => {
    const running = await records.create(principal, state);
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      now += 1;
      ids.push(await rested());
      if (running) await records.renew(running);
    }
    const there = await Promise.all(ids.map(async id => records.find(principal, id)));
    expect(there.map(found => found !== undefined)).toEqual([false, true, true, true]);
    expect(await records.find(principal, running?.id ?? '')).toBeDefined();
  });

  it('[LLM-3] is one of a bounded number that run at once', async () => {
    const made = await Promise.all(
      Array.from({ length: MAX_RUNNING + 3 }, () => records.create(principal, state)),
    );
    expect(made.filter(claim => claim !== undefined)).toHaveLength(MAX_RUNNING);
  });

  it('[LLM-3] does not give way to one that cannot run', async () => {
    const ids = [await rested(), await rested(), await rested()];
    // Each runs elsewhere: their rows are older than what is kept.
    const run = 'UPDATE chats SET leased_until = ?, status = ?, updated_at = 0 WHERE id = ?';
    const others = Array.from({ length: MAX_RUNNING }, () => crypto.randomUUID());
    const copy = `INSERT INTO chats SELECT ?1, principal_id, sealed, status, revision, claim, leased_until, stop_requested,
      created_at, updated_at, expires_at FROM chats WHERE id = ?2`;
    for (const other of others) {
      await env.DB.prepare(copy).bind(other, ids[0]).run();
      await env.DB.prepare(run)
        .bind(now + LEASE_MS, 'running', other)
        .run();
    }
    expect(await records.create(principal, state)).toBeUndefined();
    const there = await Promise.all(ids.map(async id => records.find(principal, id)));
    expect(there.map(found => found !== undefined)).toEqual([true, true, true]);
  });

  it('[LLM-3] is deleted with its principal', async () => {
    const portico = createPortico();
    const response = await portico.api('POST', '/api/v1/principals', { name: 'leaves' });
    ({ id: principal } = await response.json<{ id: string }>());
    const id = await rested();
    expect((await portico.api('DELETE', `/api/v1/principals/${principal}`)).status).toBe(204);
    expect(await records.find(principal, id)).toBeUndefined();
  });
});

describe('without a model', () => {
  const portico = createPortico();
  const begin = (token?: string) =>
    portico.api('POST', '/api/v1/chat', { message: 'hi' }, token === undefined ? {} : { token });

  it('[LLM-3] one clear error names the missing settings', async () => {
    const response = await begin();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: 'model_missing',
      detail: expect.stringContaining('PORTICO_MODEL'),
    });
  });

  it('[LLM-3] [ACC-2] a caller without the right to call is refused before that, with an audit row', async () => {
    for (const scopes of [['tools:read'], ['tools:call'], ['servers:read']]) {
      const person = await createPerson(portico, { scopes });
      expect([scopes, (await begin(person.token)).status]).toEqual([scopes, 403]);
      const rows = await rowsOf(portico, person);
      expect(rows).toMatchObject([{ action: 'rest.chat', outcome: 'denied', code: 'forbidden' }]);
    }
  });

  it.each(['legacy', 'modern'] as const)(
    '[LLM-3] [ACC-2] the chat tool does the same, and tells a model what is missing: %s',
    async era => {
      const use = async (method: string, params: object, token?: string) => {
        const { message, headers } = toCall(era, method, { ...params });
        const sent = { headers, ...(token === undefined ? {} : { token }) };
        return (await portico.post(message, sent, '/mcp?tools=chat')).json<RpcAnswer>();
      };
      const call = { name: 'chat', arguments: { message: 'Hello' } };
      const listed = await use('tools/list', {});
      expect(listed.result?.tools).toMatchObject([{ name: 'chat' }]);
      const missing = await use('tools/call', call);
      expect(missing.result).toMatchObject({
        isError: true,
        _meta: { 'portico/reason': 'model_missing' },
      });
      const person = await createPerson(portico, { scopes: ['tools:read'] });
      expect((await use('tools/call', call, person.token)).error?.code).toBe(4030);
      const rows = await rowsOf(portico, person);
      expect(rows).toMatchObject([
        { action: 'tool.call', subject: 'chat', outcome: 'denied', code: 'forbidden' },
      ]);
    },
  );
});
