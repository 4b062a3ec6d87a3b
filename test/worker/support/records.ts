/** REST records for tests: created, read, edited; and the contents of a problem. */
import { expect } from 'vitest';
import type { Portico } from './portico.ts';

export interface Problem {
  status: number;
  code: string;
  detail: string;
  errors?: { field: string; message: string }[];
}

/** A resource under its path. */
export function createRecords<T extends { id: string }>(portico: Portico, path: string) {
  const parse = async <R>(response: Response, status: number): Promise<R> => {
    const text = await response.text();
    expect([text, response.status]).toEqual([text, status]);
    return JSON.parse(text) as R;
  };
  return {
    path,
    create: async (body: object): Promise<T> => parse(await portico.api('POST', path, body), 201),
    get: async (id: string): Promise<T> => parse(await portico.api('GET', `${path}/${id}`), 200),
    list: async (query = ''): Promise<Record<string, unknown>> =>
      parse(await portico.api('GET', `${path}?${query}`), 200),
    edit: async (id: string, patch: object): Promise<T> =>
      parse(await portico.api('PATCH', `${path}/${id}`, patch), 200),
    remove: async (id: string): Promise<void> => {
      expect((await portico.api('DELETE', `${path}/${id}`)).status).toBe(204);
    },
    /** Status, code and fields of a refused request. */
    async refusal(method: string, rest: string, body?: object, headers = {}) {
      const response = await portico.api(method, `${path}${rest}`, body, { headers });
      const problem = await response.json<Problem>();
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      const fields = problem.errors?.map(({ field }) => field);
      return { status: response.status, code: problem.code, ...(fields ? { fields } : {}) };
    },
    /** Every item of a list, page by page. */
    async walk(key: string, query: string): Promise<T[]> {
      const items: T[] = [];
      for (let cursor: unknown = ''; cursor !== undefined;) {
        const page = await this.list(`${query}${cursor === '' ? '' : `&cursor=${String(cursor)}`}`);
        items.push(...(page[key] as T[]));
        cursor = page['next_cursor'];
        expect(items.length).toBeLessThan(10_000);
      }
      return items;
    },
  };
}

/** The ETag of a record. */
export async function etagOf(portico: Portico, path: string): Promise<string> {
  return (await portico.api('GET', path)).headers.get('etag') ?? '';
}
