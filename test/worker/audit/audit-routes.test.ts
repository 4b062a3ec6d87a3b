/** The audit over REST: searched by administrators only, page by page, and verified so that every change of it shows. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPortico, createToken, register, SERVERS } from '../support/portico.ts';

const AUDIT = '/api/v1/audit';
const portico = createPortico();

interface Event {
  action: string;
  subject: string;
  outcome: string;
  at: string;
  seq: number;
}
interface Found {
  events: Event[];
  next_cursor?: string;
}

const search = async (query: string): Promise<Found> =>
  (await portico.api('GET', `${AUDIT}?${query}`)).json();
const verify = async (query = ''): Promise<Record<string, unknown>> => {
  const response = await portico.api('GET', `${AUDIT}/verify?${query}`);
  expect(response.status).toBe(200);
  return response.json();
};
const sql = (text: string, ...values: unknown[]) =>
  env.DB.prepare(text)
    .bind(...values)
    .run();

let reader: { id: string; token: string };
let first: string;

beforeAll(async () => {
  first = (await register(portico, 'first', { auto_connect: false })).id;
  reader = await createToken(portico, { scopes: ['servers:read'] });
  for (let i = 0; i < 8; i += 1) await register(portico, `made-${i}`, { auto_connect: false });
  await portico.api('PATCH', `${SERVERS}/${first}`, { description: 'x' });
  await portico.api('DELETE', `${SERVERS}/${first}`, undefined, { token: reader.token });
});

describe('a search of the audit', () => {
  it('[SEC-6] returns rows newest first, page by page', async () => {
    const all = await search('limit=500');
    expect(all.events.map(({ seq }) => seq)).toEqual(all.events.map((_, i) => 12 - i));
    let page = await search('limit=5');
    const seen = [...page.events];
    while (page.next_cursor !== undefined) {
      page = await search(`limit=5&cursor=${page.next_cursor}`);
      seen.push(...page.events);
    }
    expect(seen).toEqual(all.events);
  });

  it('[SEC-6] filters by principal, action, subject, outcome and time', async () => {
    const actions = async (query: string) =>
      (await search(query)).events.map(({ action }) => action);
    const ofFirst = ['server.delete', 'server.update', 'server.create'];
    expect(await actions(`subject=${first}`)).toEqual(ofFirst);
    expect(await actions('outcome=denied')).toEqual(['server.delete']);
    expect(await actions('action=token.create')).toEqual(['token.create']);
    expect(await actions(`principal=setup-admin&subject=${first}`)).toEqual(ofFirst.slice(1));
    const { events } = await search('limit=500');
    const middle = events[6]?.at ?? '';
    const [since, until] = [await search(`since=${middle}`), await search(`until=${middle}`)];
    expect([...since.events, ...until.events]).toEqual(events);
    expect(since.events.every(({ at }) => at >= middle)).toBe(true);
    expect(await actions('action=nothing')).toEqual([]);
  });

  it('[SEC-6] [REG-8] refuses an invalid query', async () => {
    for (const query of ['since=yesterday', 'outcome=fine', 'cursor=x', 'limit=0', 'who=me']) {
      expect([query, (await portico.api('GET', `${AUDIT}?${query}`)).status]).toEqual([query, 422]);
    }
  });

  it('[SEC-6] [ACC-2] is for administrators, and so is the verification', async () => {
    for (const path of [AUDIT, `${AUDIT}/verify`]) {
      const response = await portico.api('GET', path, undefined, { token: reader.token });
      expect(response.status).toBe(403);
    }
  });
});

describe('a verification of the audit', () => {
  const LENGTH = 12;
  let head: { seq: number; hash: string };

  beforeAll(async () => {
    head = (await verify())['head'] as typeof head;
  });

  it('[SEC-6] finds an unchanged chain intact, at once or in parts', async () => {
    expect(await verify()).toEqual({
      shard: 'admin',
      rows: LENGTH,
      is_intact: true,
      head,
      pruned_to: 0,
    });
    const parts: unknown[] = [];
    let from: unknown = 1;
    while (from !== undefined) {
      const part = await verify(`from=${from}&limit=5`);
      parts.push([part['rows'], part['is_intact']]);
      from = part['next_from'];
    }
    expect(parts).toEqual([
      [5, true],
      [5, true],
      [2, true],
    ]);
    expect(await verify(`from=${LENGTH + 1}`)).toMatchObject({ rows: 0, is_intact: true });
    expect(await verify('shard=none')).toMatchObject({ rows: 0, is_intact: true });
    expect((await portico.api('GET', `${AUDIT}/verify?from=${LENGTH + 2}`)).status).toBe(422);
  });

  it.each([
    ["UPDATE audit_events SET principal_id = 'somebody' WHERE seq = 5", 5],
    [`UPDATE audit_events SET detail = '{"name":"else"}' WHERE seq = 5`, 5],
    ["UPDATE audit_events SET detail = 'no JSON' WHERE seq = 5", 5],
    ['DELETE FROM audit_events WHERE seq = 5', 5],
    ['DELETE FROM audit_events WHERE seq < 3', 1],
    ['DELETE FROM audit_events WHERE seq = 12', 12],
    ['DELETE FROM audit_events WHERE seq > 9', 10],
    ['DELETE FROM audit_events', 1],
    [`UPDATE audit_heads SET hash = '${'0'.repeat(64)}'`, 12],
    ['DELETE FROM audit_heads', 1],
    ['UPDATE audit_heads SET seq = 11', 12],
  ])('[SEC-6] shows %s', async (change, brokenSeq) => {
    const rows = await env.DB.prepare('SELECT * FROM audit_events').all();
    try {
      await sql(change);
      expect(await verify()).toMatchObject({ is_intact: false, first_broken_seq: brokenSeq });
      // In parts, it shows in the part where it is.
      const part = Math.floor((brokenSeq - 1) / 4) * 4 + 1;
      const found = await verify(`from=${part}&limit=4`);
      expect(found['is_intact']).toBe(false);
    } finally {
      await sql('DELETE FROM audit_events');
      for (const row of rows.results) {
        const marks = Object.keys(row).map(() => '?');
        const names = Object.keys(row).join(', ');
        const values = Object.values(row);
        await sql(`INSERT INTO audit_events (${names}) VALUES (${marks.join(', ')})`, ...values);
      }
    }
    expect(await verify()).toMatchObject({ rows: LENGTH, is_intact: true });
  });
});

describe('an export of the audit', () => {
  const lines = async (query = '') => {
    const response = await portico.api('GET', `${AUDIT}/export?${query}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const text = await response.text();
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Event & { id: string });
  };

  it('[SEC-6] returns every row as in the search, oldest first, and continues after a given one', async () => {
    const all = await lines();
    const { events } = await search('limit=500');
    expect(all).toEqual(events.toReversed());
    const [, , third] = all;
    expect(await lines(`after=${third?.id}`)).toEqual(all.slice(3));
    expect(await lines('action=token.create')).toMatchObject([{ action: 'token.create' }]);
    expect(await lines('subject_prefix=nothing')).toEqual([]);
    const prefix = first.slice(0, 9);
    expect(
      (await lines(`subject_prefix=${prefix}`)).every(({ subject }) => subject === first),
    ).toBe(true);
    expect((await search(`subject_prefix=${prefix}`)).events).toHaveLength(3);
  });

  it('[SEC-6] covers only calls or only administrative changes, wherever the rows of calls are', async () => {
    const acts = await lines();
    const insert = `INSERT INTO audit_events SELECT value, 1, 'call-' || key, 2000, 'p', 't', 'tool.call', 's.t', 'done', NULL, '{}', '', ''
      FROM json_each(?)`;
    await sql(insert, JSON.stringify(['calls', 'calls:2f6d8c1a']));
    try {
      expect(await lines('kind=acts')).toEqual(acts);
      expect((await search('kind=calls')).events.map(({ action }) => action)).toEqual([
        'tool.call',
        'tool.call',
      ]);
      expect(await lines()).toHaveLength(acts.length + 2);
    } finally {
      await sql("DELETE FROM audit_events WHERE action = 'tool.call'");
    }
  });

  it('[SEC-6] is streamed in parts, whatever its size', async () => {
    const insert = `INSERT INTO audit_events SELECT 'many', value, 'id-' || value, 1000 + value, 'p', 't', 'a', 's', 'done', NULL, '{}', '', ''
      FROM json_each(?)`;
    await sql(insert, JSON.stringify(Array.from({ length: 1_700 }, (_, i) => i + 1)));
    const found = await lines('principal=p');
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_700 }, (_, i) => i + 1));
    await sql("DELETE FROM audit_events WHERE shard = 'many'");
    await sql("DELETE FROM audit_heads WHERE shard = 'many'");
  });

  it('[SEC-6] [ACC-2] is for administrators, and refuses an invalid query', async () => {
    const refused = await portico.api('GET', `${AUDIT}/export`, undefined, { token: reader.token });
    expect(refused.status).toBe(403);
    for (const [query, status] of [
      ['after=nothing', 422],
      [`after=${crypto.randomUUID()}`, 404],
      ['who=me', 422],
    ]) {
      const response = await portico.api('GET', `${AUDIT}/export?${query}`);
      expect([query, response.status]).toEqual([query, status]);
    }
    const unknown = await (await portico.api('GET', `${AUDIT}?who=me`)).json();
    expect(unknown).toMatchObject({ detail: '(query): Unrecognized key: "who"' });
  });
});
