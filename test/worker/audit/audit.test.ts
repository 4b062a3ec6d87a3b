/** Administrative changes and their audit rows: one row for each, done, denied or failed, in a chain that shows an edit. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  eventHash,
  GENESIS,
  type ChainedEvent,
  type ChainHead,
} from '../../../src/audit/audit-schema.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import { createPortico, createToken, SERVERS, type ServerView } from '../support/portico.ts';

const portico = createPortico();
const chainOf = (): Promise<ChainedEvent[]> => listChain(env.DB, 'admin', 1, 10_000);

const valid = (name: string) => ({
  name,
  transport_type: 'HTTP',
  connection_config: {
    url: `https://${name}.example.com/mcp`,
    headers: { 'X-Key': 'canary-91bd' },
  },
  auto_connect: false,
});

/** Makes a change and returns the rows that it added. */
async function rowsOf(act: () => Promise<Response>): Promise<[number, ChainedEvent[]]> {
  const before = (await chainOf()).length;
  const { status } = await act();
  return [status, (await chainOf()).slice(before)];
}

describe('administrative changes', () => {
  it('[SEC-6] stay in an intact chain, whatever an unauthorized caller names', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    const { length } = await chainOf();
    const fingerprint = '0'.repeat(64);
    for (const server_id of ['a\ud800', '\udc00b', 'a\0b', '😀']) {
      const body = { items: [{ server_id, name: 'a', fingerprint }] };
      const act = () => portico.api('POST', '/api/v1/approvals/reject', body, { token });
      const [status, rows] = await rowsOf(act);
      const row = { subject: server_id.toWellFormed(), outcome: 'denied' };
      expect([status, rows]).toMatchObject([403, [row]]);
    }
    const verified = await portico.api('GET', '/api/v1/audit/verify');
    expect(await verified.json()).toMatchObject({ rows: length + 4, is_intact: true });
  });

  it('[SEC-6] leave one row each, with actor, action and outcome, and without secrets', async () => {
    const created = await portico.api('POST', SERVERS, valid('audited'));
    const { id } = await created.json<ServerView>();
    const path = `${SERVERS}/${id}`;
    const adminAudit: [string, string, unknown, number, string][] = [
      ['PATCH', path, { description: 'new' }, 200, 'server.update'],
      [
        'PATCH',
        path,
        { connection_config: { headers: { a: 'canary-91bd' } } },
        200,
        'server.update',
      ],
      ['POST', `${path}/connect`, undefined, 200, 'server.connect'],
      ['POST', `${path}/connect`, undefined, 200, 'server.connect'],
      ['POST', `${path}/disconnect`, undefined, 200, 'server.disconnect'],
      ['POST', `${path}/disconnect`, undefined, 200, 'server.disconnect'],
      ['DELETE', path, undefined, 204, 'server.delete'],
    ];
    for (const [method, route, body, status, action] of adminAudit) {
      const [answered, rows] = await rowsOf(() => portico.api(method, route, body));
      expect([method, route, answered]).toEqual([method, route, status]);
      expect(rows).toMatchObject([{ action, subject: id, outcome: 'done', code: null }]);
    }
    expect(JSON.stringify(await chainOf())).not.toContain('canary-91bd');
  });

  it('[SEC-6] that fail leave a row with the code', async () => {
    expect((await portico.api('POST', SERVERS, valid('once'))).status).toBe(201);
    const [conflict, twice] = await rowsOf(() => portico.api('POST', SERVERS, valid('once')));
    expect(conflict).toBe(409);
    expect(twice).toMatchObject([{ action: 'server.create', outcome: 'failed', code: 'conflict' }]);
    const [missing, gone] = await rowsOf(() => portico.api('DELETE', `${SERVERS}/nowhere`));
    expect(missing).toBe(404);
    expect(gone).toMatchObject([{ subject: 'nowhere', outcome: 'failed', code: 'not_found' }]);
  });

  it('[SEC-6] that are denied leave a row that names the caller', async () => {
    const reader = await createToken(portico, { scopes: ['servers:read'] });
    const [status, rows] = await rowsOf(() =>
      portico.api('POST', SERVERS, valid('denied'), { token: reader.token }),
    );
    expect(status).toBe(403);
    expect(rows).toMatchObject([{ tokenId: reader.id, outcome: 'denied', code: 'forbidden' }]);
  });

  it('[SEC-6] at the same time spread over chains, and an edit in one shows', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `same-time-${i}`);
    const answers = await Promise.all(names.map(name => portico.api('POST', SERVERS, valid(name))));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const { results: heads } = await env.DB.prepare('SELECT * FROM audit_heads').all<
      ChainHead & { shard: string }
    >();
    expect(heads.length).toBeGreaterThan(1);
    let created = 0;
    for (const { shard, seq, hash } of heads) {
      let head = GENESIS;
      for (const row of await listChain(env.DB, shard, 1, 10_000)) {
        expect([row.shard, row.seq, row.previousHash]).toEqual([shard, head.seq + 1, head.hash]);
        expect(row.hash).toBe(await eventHash(row));
        expect(await eventHash({ ...row, principalId: 'somebody' })).not.toBe(row.hash);
        if (JSON.stringify(row.detail).includes('same-time-')) created += 1;
        head = row;
      }
      expect({ seq, hash }).toEqual({ seq: head.seq, hash: head.hash });
    }
    expect(created).toBe(names.length);
  });
});
