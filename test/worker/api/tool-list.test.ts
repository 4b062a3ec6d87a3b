/** `GET /api/v1/tools` page by page, and one tool by its name. */
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { createPortico, createToken, registerConnected } from '../support/portico.ts';

interface Page {
  servers: { name: string; tools: { name: string }[] }[];
  next_cursor?: string;
  total: number;
}

const portico = createPortico();
const NAMES = Array.from({ length: 25 }, (_, i) => `t${String(i).padStart(2, '0')}`);
const many = new FakeServer({ tools: NAMES.map(name => toolOf(name)) });
const few = new FakeServer({ tools: [toolOf('one'), toolOf('two')] });
const none = new FakeServer({ tools: [] });
const all = { a: many, b: few, c: none };
let member = '';

const get = async (query: string): Promise<Page & { status: number }> => {
  const response = await portico.api('GET', `/api/v1/tools?${query}`, undefined, { token: member });
  return { ...(await response.json<Page>()), status: response.status };
};
const namesOf = ({ servers }: Page) => servers.flatMap(({ tools }) => tools.map(t => t.name));

async function pagesOf(query: string): Promise<Page[]> {
  const pages = [await get(query)];
  for (let next = pages[0]?.next_cursor; next !== undefined; next = pages.at(-1)?.next_cursor) {
    if (pages.length > 100) throw new Error('it never ends');
    pages.push(await get(`${query}&cursor=${next}`));
  }
  return pages;
}

beforeAll(async () => {
  serve(all);
  for (const name of Object.keys(all)) await registerConnected(portico, name);
  member = (await createToken(portico, { scopes: ['tools:read'] })).token;
});
beforeEach(() => void serve(all));

const ALL = [...NAMES.map(name => `a.${name}`), 'b.one', 'b.two'];

it('[REG-3] lists all tools at once without a limit, and every server', async () => {
  const page = await get('');
  expect(namesOf(page)).toEqual(ALL);
  expect(page.servers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect([page.total, page.next_cursor]).toEqual([27, undefined]);
});

it.each([1, 10, 26, 27, 28])('[REG-3] lists each tool once, %i on a page', async limit => {
  const pages = await pagesOf(`limit=${limit}`);
  expect(pages.flatMap(namesOf)).toEqual(ALL);
  expect(pages.length).toBe(Math.ceil(27 / limit));
  expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([27]));
});

it('[REG-3] continues where a page ended, even if its last tool is gone', async () => {
  const first = await get('limit=10');
  const last = namesOf(first).at(-1);
  expect(last).toBe('a.t09');
  const hidden = await portico.api('POST', '/api/v1/access/rules', {
    effect: 'deny',
    subject: { kind: 'everyone' },
    tool: 't09',
  });
  expect(hidden.status).toBe(201);
  const second = await get(`limit=10&cursor=${first.next_cursor}`);
  expect(second.total).toBe(26);
  expect(namesOf(second)).toEqual(ALL.slice(10, 20));
  const { id } = await hidden.json<{ id: string }>();
  await portico.api('DELETE', `/api/v1/access/rules/${id}`);
});

it('[REG-3] finds one tool by its exact name', async () => {
  const found = await get('tool=b.two');
  expect([namesOf(found), found.total]).toEqual([['b.two'], 1]);
  expect(namesOf(await get('tool=two'))).toEqual([]);
});

it('[REG-3] refuses a cursor of another filter', async () => {
  const { next_cursor: next } = await get('limit=10');
  expect((await get(`limit=10&server=a&cursor=${next}`)).status).toBe(422);
  expect((await get('limit=0')).status).toBe(422);
});

it('[LLM-1] exports one tool in a format, by its qualified name or by that of the format', async () => {
  for (const name of ['b.one', 'b__one']) {
    const response = await portico.api('GET', `/api/v1/tools?format=anthropic&tool=${name}`);
    expect(await response.json()).toMatchObject({ names: { b__one: 'b__one' } });
  }
  const response = await portico.api('GET', '/api/v1/tools?format=anthropic&tool=b.none');
  expect(await response.json()).toMatchObject({ tools: [], names: {} });
});
