/** Lists of the REST API: pages, filters, cursors and totals, computed in SQL. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPortico, createToken, register, SERVERS } from '../support/portico.ts';

const portico = createPortico();
const NAMES = Array.from({ length: 25 }, (_, i) => `s${String(i).padStart(2, '0')}-Blue`);

interface Page {
  servers: { name: string }[];
  tokens: { name: string; id: string }[];
  next_cursor?: string;
  total: number;
}

const get = async (path: string, query: string): Promise<Page> => {
  const response = await portico.api('GET', `${path}?${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  return response.json();
};

/** Reads a list to its end; returns the pages. */
async function pagesOf(path: string, query: string): Promise<Page[]> {
  const pages = [await get(path, query)];
  for (let next = pages[0]?.next_cursor; next !== undefined; next = pages.at(-1)?.next_cursor) {
    pages.push(await get(path, `${query}&cursor=${next}`));
    expect(pages.length).toBeLessThan(100);
  }
  return pages;
}

beforeAll(async () => {
  for (const name of NAMES) await register(portico, name, { auto_connect: false });
  await register(portico, 'Other', { auto_connect: false, transport_type: 'SSE' });
  const status = env.DB.prepare("UPDATE servers SET status = 'CONNECTING' WHERE name = 's03-Blue'");
  await status.run();
});

describe('servers', () => {
  it('[REG-2] are listed page by page by name, each once', async () => {
    for (const limit of [1, 7, 25, 26, 27, 500]) {
      const pages = await pagesOf(SERVERS, `limit=${limit}`);
      const names = pages.flatMap(({ servers }) => servers.map(({ name }) => name));
      expect(names).toEqual(['Other', ...NAMES]);
      expect(pages.map(({ servers }) => servers.length <= limit)).not.toContain(false);
      expect(pages.length).toBe(Math.ceil(26 / limit));
      expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([26]));
    }
  });

  it.each([
    ['status=CONNECTING', ['s03-Blue']],
    ['transport_type=SSE', ['Other']],
    ['name=bLuE&status=DISCONNECTED&limit=100', NAMES.filter(name => name !== 's03-Blue')],
    ['name=12', ['s12-Blue']],
    ['name=%25', []],
    ['name=_', []],
    ['status=ERROR', []],
  ])('[REG-2] that match %s', async (query, names) => {
    const { servers, total, next_cursor } = await get(SERVERS, query);
    expect(servers.map(({ name }) => name)).toEqual(names);
    expect(total).toBe(names.length);
    expect(next_cursor).toBeUndefined();
  });

  it('[REG-2] keep their place while others are added and deleted', async () => {
    const first = await get(SERVERS, 'limit=10&name=blue');
    const gone = first.servers.at(-1)?.name ?? '';
    await env.DB.prepare('UPDATE servers SET name = ? WHERE name = ?').bind('a-Blue', gone).run();
    const { servers } = await get(SERVERS, `limit=10&name=blue&cursor=${first.next_cursor}`);
    expect(servers[0]?.name).toBe('s10-Blue');
    await env.DB.prepare('UPDATE servers SET name = ? WHERE name = ?').bind(gone, 'a-Blue').run();
  });

  it('[REG-2] [REG-8] refuse an invalid query, and name the field', async () => {
    const { next_cursor: cursor } = await get(SERVERS, 'limit=5&name=blue');
    const refused: [string, string][] = [
      ['limit=0', 'limit'],
      ['limit=501', 'limit'],
      ['limit=x', 'limit'],
      ['cursor=nonsense', 'cursor'],
      [`cursor=${cursor}`, 'cursor'],
      [`cursor=${cursor}&name=red`, 'cursor'],
      ['status=ASLEEP', 'status'],
      ['transport_type=PIGEON', 'transport_type'],
      ['colour=red', 'colour'],
      ['name=a&name=b', 'name'],
    ];
    for (const [query, field] of refused) {
      const response = await portico.api('GET', `${SERVERS}?${query}`);
      expect([query, response.status]).toEqual([query, 422]);
      const problem = await response.json<{ code: string; errors: object[] }>();
      expect(problem.code).toBe('validation_failed');
      expect(JSON.stringify(problem.errors)).toContain(field);
    }
  });

  it('[REG-2] refuse a cursor of tokens', async () => {
    await createToken(portico, { name: 'one' });
    await createToken(portico, { name: 'two' });
    const { next_cursor: cursor } = await get('/api/v1/tokens', 'limit=1');
    const response = await portico.api('GET', `${SERVERS}?cursor=${cursor}`);
    expect(response.status).toBe(422);
  });
});

describe('tokens', () => {
  it('[ACC-2] are listed page by page, newest first, by name, and one by one', async () => {
    const made: string[] = [];
    for (let i = 0; i < 9; i += 1) {
      made.push((await createToken(portico, { name: `robot-${i}` })).id);
    }
    const pages = await pagesOf('/api/v1/tokens', 'limit=4&name=ROBOT');
    const listed = pages.flatMap(({ tokens }) => tokens);
    expect(listed.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    expect(pages.map(({ tokens, total }) => [tokens.length, total])).toEqual([
      [4, 9],
      [4, 9],
      [1, 9],
    ]);
    const one = await portico.api('GET', `/api/v1/tokens/${made[3]}`);
    expect(await one.json()).toEqual(listed.find(({ id }) => id === made[3]));
    expect((await portico.api('GET', '/api/v1/tokens/none')).status).toBe(404);
  });
});

it('[REG-8] a created record has a Location, and a body of another type is refused', async () => {
  const bodies: [string, object][] = [
    [
      SERVERS,
      {
        name: 'placed',
        transport_type: 'HTTP',
        connection_config: { url: 'https://placed.example.com/' },
        auto_connect: false,
      },
    ],
    ['/api/v1/tokens', { name: 'placed' }],
  ];
  for (const [path, body] of bodies) {
    const made = await portico.api('POST', path, body);
    expect(made.status).toBe(201);
    const { id } = await made.json<{ id: string }>();
    expect(made.headers.get('location')).toBe(`${path}/${id}`);
    expect((await portico.api('GET', `${path}/${id}`)).status).toBe(200);
    const headers = { 'content-type': 'text/plain' };
    const refused = await portico.api('POST', path, body, { headers });
    expect(refused.status).toBe(415);
    expect(await refused.json()).toMatchObject({ code: 'unsupported_media_type' });
  }
});
