/** Records that a configuration file owns: a write for an owner marks the record in the same write, and a deletion removes the mark. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../../src/shared/identity/record-owner.ts';
import { createPortico, SERVERS } from '../support/portico.ts';

const OWNERS = '/api/v1/owners';
const portico = createPortico();
const headers = (owner: string) => ({ headers: { 'portico-owner': owner } });

interface Owned {
  kind: string;
  id: string;
  owner: string;
  key: string;
}

async function listOwned(query = ''): Promise<{ records: Owned[]; next_cursor?: string }> {
  const response = await portico.api('GET', `${OWNERS}?${query}`);
  expect(response.status).toBe(200);
  return response.json();
}

const ownedBy = async (owner: string) =>
  (await listOwned('limit=500')).records.filter(record => record.owner === owner);

async function make(path: string, body: object, owner?: string): Promise<string> {
  const response = await portico.api('POST', path, body, owner === undefined ? {} : headers(owner));
  expect(response.status).toBe(201);
  const made = await response.json<{ id?: string; connector?: { id: string } }>();
  return made.id ?? made.connector?.id ?? '';
}

describe('an owner', () => {
  it('[OPS-6] is set for each kind of record that is written for it, and for no other', async () => {
    const connection_config = { url: 'https://owned.example.com/mcp' };
    const server = {
      name: 'owned',
      transport_type: 'HTTP',
      connection_config,
      auto_connect: false,
    };
    const group = { kind: 'group', name: 'staff' };
    const bodies: Record<string, [path: string, body: object]> = {
      server: [SERVERS, server],
      connector: ['/api/v1/connectors', { name: 'owned-box' }],
      principal: ['/api/v1/principals', { name: 'Zoë' }],
      rule: ['/api/v1/access/rules', { effect: 'deny', subject: group }],
      budget: ['/api/v1/budgets', { subject: group, calls_per_day: 5 }],
      toolset: ['/api/v1/toolsets', { name: 'owned', include: ['*.get_*'] }],
      cache_rule: ['/api/v1/cache/rules', { server: 'owned', tool: 'get', ttl_seconds: 1 }],
      ask_allowlist: ['/api/v1/ask/allowlist', { server: '*', tool: 'get' }],
    };
    const expected: Owned[] = [];
    for (const [kind, [path, body]] of Object.entries(bodies)) {
      const id = await make(path, body, 'platform/Zo%C3%AB');
      expected.push({ kind, id, owner: 'platform', key: 'Zoë' });
    }
    await make('/api/v1/principals', { name: 'by hand' });
    const secret = { value: 'v', origins: ['https://owned.example.com'] };
    const put = await portico.api(
      'PUT',
      '/api/v1/secrets/OWNED',
      secret,
      headers('platform/OWNED'),
    );
    expect(put.status).toBe(200);
    expected.push({ kind: 'secret', id: 'OWNED', owner: 'platform', key: 'OWNED' });
    const byKind = (a: Owned, b: Owned) => (a.kind < b.kind ? -1 : 1);
    expect((await listOwned()).records).toEqual(expected.toSorted(byKind));
    const walked: Owned[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = await listOwned(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.records);
      cursor = page.next_cursor;
    }
    expect(walked).toEqual(expected.toSorted(byKind));

    // The cache rule is deleted with its server.
    const { cache_rule: _, ...others } = bodies;
    const paths = Object.entries(others).map(([kind, [path]]) => [kind, path] as const);
    for (const [kind, path] of [...paths, ['secret', '/api/v1/secrets'] as const]) {
      const id = expected.find(record => record.kind === kind)?.id;
      expect([kind, (await portico.api('DELETE', `${path}/${id}`)).status]).toEqual([kind, 204]);
    }
    expect((await listOwned()).records).toEqual([]);
  });

  it('[OPS-6] stays when people edit the record, and is removed when it is deleted', async () => {
    const path = '/api/v1/principals';
    const id = await make(path, { name: 'Ada' }, 'people/ada');
    expect((await portico.api('PATCH', `${path}/${id}`, { name: 'Ada L.' })).status).toBe(200);
    expect(await ownedBy('people')).toEqual([
      { kind: 'principal', id, owner: 'people', key: 'ada' },
    ]);
    expect((await portico.api('DELETE', `${path}/${id}`)).status).toBe(204);
    expect(await ownedBy('people')).toEqual([]);
  });

  it('[OPS-6] can take an existing record, by a write or unchanged; a key has one record', async () => {
    const path = '/api/v1/principals';
    const [first, second] = [await make(path, { name: 'A' }), await make(path, { name: 'B' })];
    const edit = await portico.api('PATCH', `${path}/${first}`, { name: 'C' }, headers('team/a'));
    expect(edit.status).toBe(200);
    const taken = { kind: 'principal', id: second, owner: 'team', key: 'a' };
    expect((await portico.api('PUT', OWNERS, taken)).status).toBe(200);
    expect(await ownedBy('team')).toEqual([taken]);
    const select = 'SELECT action, detail FROM audit_events WHERE subject = ? ORDER BY seq';
    const { results } = await env.DB.prepare(select).bind(second).all<{ detail: string }>();
    expect(results.at(-1)).toMatchObject({ action: 'principal.take' });
    expect(JSON.parse(results.at(-1)?.detail ?? '')).toEqual({ owner: 'team', key: 'a' });
  });

  it.each(OWNED_KINDS)('[OPS-6] takes no %s that does not exist', async kind => {
    const taken = { kind, id: 'gone', owner: 'late', key: 'x' };
    const response = await portico.api('PUT', OWNERS, taken);
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }]);
    expect(await ownedBy('late')).toEqual([]);
  });

  it('[OPS-6] is not set by a refused write', async () => {
    const rule = { effect: 'deny', subject: { kind: 'principal', id: 'nobody' } };
    const refused = await portico.api('POST', '/api/v1/access/rules', rule, headers('careless/x'));
    expect(refused.status).toBe(422);
    const toolset = { name: 'twice', include: ['*'] };
    await make('/api/v1/toolsets', toolset, 'careless/first');
    const twice = await portico.api(
      'POST',
      '/api/v1/toolsets',
      toolset,
      headers('careless/second'),
    );
    expect(twice.status).toBe(409);
    expect(await ownedBy('careless')).toMatchObject([{ key: 'first' }]);
  });

  it('[OPS-6] is not set for a kind of record that no file contains', async () => {
    const url = 'https://hooks.example.com/';
    const headersOfFile = headers('stray/x');
    const made = await portico.api('POST', '/api/v1/webhooks', { name: 'x', url }, headersOfFile);
    expect(made.status).toBe(201);
    expect(await ownedBy('stray')).toEqual([]);
    expect((await portico.api('DELETE', '/api/v1/webhooks/x')).status).toBe(204);
    expect(await ownedBy('stray')).toEqual([]);
  });

  it.each(['platform', 'platform/', '/key', 'Platform/key', 'platform/%E0%A4', ''])(
    '[OPS-6] that is written "%s" is refused',
    async owner => {
      const body = { name: 'nobody' };
      const response = await portico.api('POST', '/api/v1/principals', body, headers(owner));
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'validation_failed' });
    },
  );
});

describe('a comparison of secrets', () => {
  it('[OPS-6] [SEC-1] shows which values are equal, and leaves a row without one', async () => {
    const origins = ['https://mcp.example.com'];
    for (const name of ['ONE', 'TWO']) {
      const body = { value: `value-of-${name}`, origins };
      expect((await portico.api('PUT', `/api/v1/secrets/${name}`, body)).status).toBe(200);
    }
    const secrets = [
      { name: 'ONE', value: 'value-of-ONE' },
      { name: 'TWO', value: 'value-of-ONE' },
      { name: 'NONE', value: 'value-of-ONE' },
    ];
    const response = await portico.api('POST', '/api/v1/secrets/compare', { secrets });
    expect(await response.json()).toEqual({ same: ['ONE'] });
    const select = "SELECT detail FROM audit_events WHERE action = 'secret.compare'";
    const { results } = await env.DB.prepare(select).all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual(['{"count":3}']);
  });
});
