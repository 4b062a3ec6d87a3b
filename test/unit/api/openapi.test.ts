/** The gate of the OpenAPI document: valid, complete, and without anything that a reader or a generator has to guess. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, errorEntry, type ErrorCode } from '../../../src/shared/errors/table.ts';
import { createEmptyApi, loadDocument, operationsOf } from './document.ts';
import type { OpenApi, OpenApiResponse, Operation } from './document.ts';

const api = await createEmptyApi();
const document = await loadDocument(api);
const operations = operationsOf(document);

const validate = (given: OpenApi) => new Validator().validate({ ...structuredClone(given) });

/** What an operation lacks, one line each. */
function findGaps(title: string, operation: Operation): string[] {
  const gaps: string[] = [];
  const need = (isThere: unknown, what: string) => void (isThere || gaps.push(`${title}: ${what}`));
  need(/^[a-z]\w+$/.test(operation.operationId ?? ''), 'no operationId');
  need(operation.summary, 'no summary');
  need(
    operation.tags?.every(tag => document.tags.some(({ name }) => name === tag)),
    'no tag',
  );
  for (const name of title.match(/(?<=\{)\w+(?=\})/g) ?? []) {
    const isThere = operation.parameters?.some(
      parameter => parameter.in === 'path' && parameter.name === name && parameter.required,
    );
    need(isThere, `path parameter ${name} is not described`);
  }
  for (const [type, { schema, example }] of Object.entries(operation.requestBody?.content ?? {})) {
    need(schema && example, `body ${type} without schema or example`);
  }
  const all = Object.entries(operation.responses);
  const good = all.filter(([status]) => status.startsWith('2'));
  need(good.length > 0, 'no success');
  for (const [status, { content, headers }] of good) {
    const [media] = Object.values(content ?? {});
    need(
      status === '204' || (media?.schema && media.example),
      `${status} without schema or example`,
    );
    need(status !== '201' || headers?.['Location'], '201 without Location');
  }
  const bad = all.filter(([status]) => !status.startsWith('2'));
  for (const status of ['401', '403', '422', '500'])
    need(operation.responses[status], `no ${status}`);
  for (const status of operation.requestBody ? ['400', '413', '415'] : []) {
    need(operation.responses[status], `a body, and no ${status}`);
  }
  for (const [status, { content }] of bad) {
    const codes = codesOf(content?.['application/problem+json']?.schema);
    need(codes.length > 0, `${status} is no problem with codes`);
    for (const code of codes) need(statusOf(code) === Number(status), `${status} says ${code}`);
  }
  return gaps;
}

const statusOf = (code: string) =>
  ERROR_CODES.includes(code as ErrorCode) ? errorEntry(code as ErrorCode).status : undefined;

function codesOf(schema: Record<string, unknown> | undefined): string[] {
  const parts = (schema?.['allOf'] ?? []) as { properties?: { code?: { enum?: string[] } } }[];
  return parts.flatMap(({ properties }) => properties?.code?.enum ?? []);
}

describe('the document', () => {
  it('[REG-8] is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const result = await validate(document);
    expect(result).toEqual({ valid: true });
  });

  it('[REG-8] describes exactly the routes that are registered', () => {
    const registered = api.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    const described = operations.map(([title]) => title);
    expect([...new Set(registered)].toSorted()).toEqual(described.toSorted());
    expect(described.length).toBeGreaterThan(15);
  });

  it('[REG-8] describes every part of a route', () => {
    expect(operations.flatMap(([title, operation]) => findGaps(title, operation))).toEqual([]);
  });

  it('[REG-8] has a unique id for each operation', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('[REG-8] describes every tag, and uses it', () => {
    const used = new Set(operations.flatMap(([, { tags }]) => tags ?? []));
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
  });

  it('[REG-8] [ACC-2] states which scope an operation needs', () => {
    const open = operations.filter(([, { security }]) => !security?.[0]?.bearer?.length);
    const self = 'PUT /api/v1/connectors/self/servers';
    const any = ['GET /api/v1/token', 'GET /openapi.json'];
    expect(open.map(([title]) => title)).toEqual([self, ...any]);
    expect(new Map(open).get(self)?.security).toEqual([{ device: [] }]);
  });

  it('[REG-8] states which responses may be event streams', () => {
    const streams = operations.filter(
      ([, { responses }]) => responses['200']?.content?.['text/event-stream'],
    );
    expect(streams.map(([title]) => title)).toEqual([
      'GET /api/v1/events',
      'POST /api/v1/tools/call',
      'POST /api/v1/chat',
      'POST /api/v1/chat/{id}',
    ]);
  });

  it('[REG-8] has ETag and If-Match for operations that edit a record', () => {
    const edits = operations.filter(([title]) => title.startsWith('PATCH'));
    expect(edits.length).toBeGreaterThan(0);
    for (const [title, { parameters, responses }] of edits) {
      const names = parameters?.map(parameter => parameter.name.toLowerCase());
      expect([title, names]).toEqual([title, expect.arrayContaining(['if-match'])]);
      expect(responses['200']?.headers).toHaveProperty('ETag');
      expect(Object.keys(responses)).toContain('412');
    }
  });
});

describe('the gate itself', () => {
  it('reports what is missing', () => {
    const bare: Operation = {
      requestBody: { content: { 'application/json': {} } },
      responses: {
        200: { description: 'x' },
        201: { description: 'x' },
        404: { description: 'x' },
      },
    };
    expect(findGaps('POST /a/{id}', bare)).toEqual([
      'POST /a/{id}: no operationId',
      'POST /a/{id}: no summary',
      'POST /a/{id}: no tag',
      'POST /a/{id}: path parameter id is not described',
      'POST /a/{id}: body application/json without schema or example',
      'POST /a/{id}: 200 without schema or example',
      'POST /a/{id}: 201 without schema or example',
      'POST /a/{id}: 201 without Location',
      'POST /a/{id}: no 401',
      'POST /a/{id}: no 403',
      'POST /a/{id}: no 422',
      'POST /a/{id}: no 500',
      'POST /a/{id}: a body, and no 400',
      'POST /a/{id}: a body, and no 413',
      'POST /a/{id}: a body, and no 415',
      'POST /a/{id}: 404 is no problem with codes',
    ]);
  });

  it('reports a code at the wrong status', () => {
    const schema = { allOf: [{ properties: { code: { enum: ['conflict'] } } }] };
    const content = { 'application/problem+json': { schema } };
    const responses = { 404: { description: 'x', content } };
    expect(findGaps('GET /a', { responses })).toContain('GET /a: 404 says conflict');
  });

  it('refuses an invalid document', async () => {
    const broken = structuredClone(document);
    broken.paths['/broken'] = { get: { responses: { 200: {} as OpenApiResponse } } };
    expect(await validate(broken)).toMatchObject({ valid: false });
  });
});
