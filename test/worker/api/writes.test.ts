/**
 * Every route that writes, taken from the OpenAPI document so that none is forgotten: a caller without the scope is refused and leaves one
 * row of that; an administrator's change leaves exactly one row. Bodies are the examples of the document.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { listChain } from '../../../src/audit/audit-store.ts';
import { ADMIN, createPortico, createToken, register } from '../support/portico.ts';
import { TRIALS, type Trial } from '../support/write-trials.ts';

interface Operation {
  security?: { bearer?: string[] }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, unknown>;
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

/** Operations that only read or call though their method is not GET; calls have an audit of their own. */
const NO_ACTS = new Set([
  'POST /api/v1/tools/call',
  'POST /api/v1/tools/execute',
  'POST /api/v1/access/explain',
  'POST /api/v1/access/rules/preview',
  'POST /api/v1/toolsets/preview',
  'POST /api/v1/search',
  'POST /api/v1/ask',
  'POST /api/v1/chat',
  'POST /api/v1/chat/{id}',
  'POST /api/v1/chat/{id}/stop',
  'DELETE /api/v1/chat/{id}',
  // A token without a principal has no account either (`accounts/accounts.test.ts`).
  'POST /api/v1/accounts',
]);

const portico = createPortico();
const rows = () => listChain(env.DB, 'admin', 1, 10_000);

async function loadWrites(): Promise<[title: string, operation: Operation][]> {
  const document = await (await portico.api('GET', '/openapi.json')).json<OpenApi>();
  return (
    Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]): [string, Operation] => [
          `${method.toUpperCase()} ${path}`,
          operation,
        ]),
      )
      // The operations of a connector's device token are tested with connectors.
      .filter(([, { security }]) => security?.[0]?.bearer !== undefined)
      .filter(([title]) => !title.startsWith('GET ') && !NO_ACTS.has(title))
  );
}

const writes = await loadWrites();

/** Sends an operation to a subject created for it; returns the status and the new rows. */
async function act(title: string, operation: Operation, token: string) {
  const [method = '', template = ''] = title.split(' ');
  const trial: Trial | undefined = TRIALS[title];
  const subject = (await trial?.subject?.(portico)) ?? 'missing';
  const path = template.replace('{tool}', 'tool').replaceAll(/\{\w+\}/g, subject);
  const [media] = Object.values(operation.requestBody?.content ?? {});
  const body = (await trial?.makeBody?.(portico)) ?? trial?.body ?? media?.example;
  const before = (await rows()).length;
  const response = await portico.api(method, path, body, { token });
  const problem = response.ok ? undefined : await response.json<{ code: string }>();
  return { status: response.status, code: problem?.code, left: (await rows()).slice(before) };
}

let reader: string;
beforeAll(async () => {
  reader = (await createToken(portico, { scopes: ['servers:read'] })).token;
  await register(portico, 'bystander', { auto_connect: false });
});

describe('the routes that write', () => {
  it('[SEC-6] are exactly those with a trial in this test', () => {
    expect(writes.map(([title]) => title).toSorted()).toEqual(Object.keys(TRIALS).toSorted());
    expect(writes.length).toBeGreaterThan(6);
  });

  it.each(writes)(
    '[ACC-2] [SEC-6] %s is refused to a reader, and that is recorded',
    async (title, operation) => {
      const { status, code, left } = await act(title, operation, reader);
      expect({ status, code }).toEqual({ status: 403, code: 'forbidden' });
      expect(left).toMatchObject([{ outcome: 'denied', code: 'forbidden' }]);
    },
  );

  it.each(writes)(
    '[SEC-6] [REG-8] %s of an administrator leaves one row',
    async (title, operation) => {
      const { status, left } = await act(title, operation, ADMIN);
      expect(Object.keys(operation.responses)).toContain(String(status));
      expect(Math.floor(status / 100)).toBe(2);
      expect(left).toMatchObject([{ principalId: 'setup-admin', outcome: 'done', code: null }]);
    },
  );

  it.each(writes)('[ACC-1] %s requires a credential', async title => {
    const [method = '', path = ''] = title.split(' ');
    const response = await portico.api(method, path.replaceAll(/[{}]/g, ''), {}, { token: null });
    expect(response.status).toBe(401);
  });
});
