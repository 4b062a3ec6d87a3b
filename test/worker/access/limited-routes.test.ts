/**
 * A token with limits at every route of the OpenAPI document: what lies outside its limits looks as if it did not exist, and routes that
 * concern more than one server refuse it. A new route fails here until somebody decides what such a token may do there.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { listChain } from '../../../src/audit/audit-store.ts';
import { ScopeSchema } from '../../../src/shared/identity/principal.ts';
import { listApprovals } from '../support/approvals.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { DECISIONS, type Decision } from '../support/limited-decisions.ts';
import {
  createPortico,
  createToken,
  registerConnected,
  SERVERS,
  whenSorted,
} from '../support/portico.ts';
import { TRIALS } from '../support/write-trials.ts';

interface Operation {
  security?: { bearer?: string[]; device?: string[] }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

/** Part of every name, description and address outside the limits. */
const CANARY = 'canary';
const MISSING = '00000000-0000-4000-8000-000000000000';
/** A name or id that does not exist, in the form that the route takes. */
const missingAt = (title: string) => (title.includes('{name}') ? 'MISSING' : MISSING);

const portico = createPortico();
const document = await (await portico.api('GET', '/openapi.json')).json<OpenApi>();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
);
const decided = (decision: Decision) =>
  operations.filter(([title]) => DECISIONS[title] === decision);

let own: { id: string };
let hidden: { id: string };
/** A token with every scope, limited to one server. */
let limited: string;
/** Both tokens, with their ids. */
let both: { id: string; token: string }[];
/** The same, limited to the tools of the server that begin with `open_`. */
let partial: string;
/** Ids of hidden records, for routes that read one by its id. */
let subjects: Record<string, string>;

beforeAll(async () => {
  const description = `A ${CANARY} of a tool`;
  serve({
    own: new FakeServer({ tools: [toolOf('open_box'), toolOf('shut_box')] }),
    [`${CANARY}-box`]: new FakeServer({ tools: [toolOf(`${CANARY}_tool`, { description })] }),
  });
  own = await registerConnected(portico, 'own');
  hidden = await registerConnected(portico, `${CANARY}-box`, { description });
  await Promise.all([whenSorted(own.id), whenSorted(hidden.id)]);
  const scopes = ScopeSchema.options;
  both = [
    await createToken(portico, { servers: ['own'], scopes }),
    await createToken(portico, { tools: ['own.open_*'], scopes }),
  ];
  [limited = '', partial = ''] = both.map(({ token }) => token);
  // The principal of the tokens has accounts at both servers.
  await env.DB.prepare(
    `INSERT INTO accounts (id, principal_id, server_id, auth_sealed, created_at, updated_at)
     SELECT lower(hex(randomblob(16))), p.id, s.id, 'x', 0, 0 FROM principals AS p, servers AS s`,
  ).run();
  const [approval] = (await listApprovals(portico, hidden.id, 'any')).approvals;
  const account = await env.DB.prepare(
    `SELECT a.id FROM accounts AS a JOIN tokens AS t ON t.principal_id = a.principal_id
     WHERE t.id = ? AND a.server_id = ?`,
  )
    .bind(both[0]?.id, hidden.id)
    .first<string>('id');
  subjects = {
    'GET /api/v1/approvals/{id}': approval?.id ?? '',
    'GET /api/v1/accounts/{id}': account ?? '',
    'DELETE /api/v1/accounts/{id}': account ?? '',
  };
});

/** Calls a route; returns its response without the ids of the request. */
async function ask(title: string, token: string, subject: string, body?: unknown) {
  const [method = '', template = ''] = title.split(' ');
  const path = template.replace('{tool}', 'tool').replaceAll(/\{\w+\}/g, subject);
  const response = await portico.api(method, path, body, { token });
  const text = (await response.text()).replaceAll(subject, 'ID');
  return { status: response.status, text };
}

/** Sets the accounts setting of both servers. */
async function takeAccounts(accounts: 'both' | 'shared'): Promise<void> {
  for (const { id } of [own, hidden]) await portico.api('PATCH', `${SERVERS}/${id}`, { accounts });
}

const exampleOf = ({ requestBody }: Operation): unknown =>
  Object.values(requestBody?.content ?? {})[0]?.example;

/** Request bodies that name hidden records, or records that do not exist. */
const NAMING: Record<string, (is: { server: string; id: string; tool: string }) => unknown> = {
  'POST /api/v1/tokens': ({ server, id, tool }) => ({
    name: 'x',
    servers: [server, id],
    tools: [`${server}.${tool}`],
  }),
  'POST /api/v1/tools/call': ({ id, tool }) => ({ server_id: id, original_name: tool }),
  'POST /api/v1/tools/execute': ({ server, tool }) => ({
    format: 'openai-chat',
    calls: [
      { id: 'c', type: 'function', function: { name: `${server}__${tool}`, arguments: '{}' } },
    ],
  }),
};

/** Text that a list shows of the visible server, where it is not the server's name. */
const SHOWN: Record<string, () => string> = {
  'POST /api/v1/search': () => 'servers_searched',
  'GET /api/v1/tokens': () => own.id,
};

/** Status for an unknown record, where it is not 404. */
const UNKNOWN: Record<string, number> = {
  'POST /api/v1/tools/execute': 200,
  'POST /api/v1/tokens': 422,
};

describe('a token with limits', () => {
  it('[ACC-9] is covered by a decision for every route', () => {
    expect(operations.map(([title]) => title).toSorted()).toEqual(
      Object.keys(DECISIONS).toSorted(),
    );
    const credentials = operations.filter(([, { security }]) => security?.[0]?.device);
    expect(decided('device')).toEqual(credentials);
  });

  it.each(decided('refused'))('[ACC-9] is refused at %s', async (title, operation) => {
    const trial = TRIALS[title];
    const subject = (await trial?.subject?.(portico)) ?? hidden.id;
    const body = (await trial?.makeBody?.(portico)) ?? trial?.body ?? exampleOf(operation);
    const before = (await listChain(env.DB, 'admin', 1, 10_000)).length;
    for (const token of [limited, partial]) {
      const answer = await ask(title, token, subject, body);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('without limits');
      expect(answer.text).not.toContain(CANARY);
      expect(answer).toEqual(await ask(title, token, missingAt(title), body));
    }
    const rows = (await listChain(env.DB, 'admin', 1, 10_000)).slice(before);
    expect(rows.filter(({ outcome }) => outcome !== 'denied')).toEqual([]);
  });

  it.each(decided('bound'))('[ACC-9] learns nothing hidden at %s', async (title, operation) => {
    const trial = TRIALS[title];
    const naming = NAMING[title];
    const subject = subjects[title] ?? (await trial?.subject?.(portico)) ?? hidden.id;
    const body = (await trial?.makeBody?.(portico)) ?? trial?.body ?? exampleOf(operation);
    const here = { server: `${CANARY}-box`, id: hidden.id, tool: `${CANARY}_tool` };
    const there = { server: 'nothing-xx', id: MISSING, tool: 'nothing_tool' };
    const other = JSON.stringify(body)?.replaceAll(
      /"server_id":"[^"]*"/g,
      `"server_id":"${MISSING}"`,
    );
    const bodies = naming ? [naming(here), naming(there)] : [body, other && JSON.parse(other)];
    const before = (await listChain(env.DB, 'admin', 1, 10_000)).length;
    for (const token of [limited, partial]) {
      const answer = await ask(title, token, subject, bodies[0]);
      const unknown = await ask(title, token, MISSING, bodies[1]);
      const plain = (text: string) =>
        text
          .replaceAll(new RegExp(`${here.server}|${there.server}`, 'g'), 'SERVER')
          .replaceAll(new RegExp(`${here.tool}|${there.tool}`, 'g'), 'TOOL');
      expect({ ...answer, text: plain(answer.text) }).toEqual({
        ...unknown,
        text: plain(unknown.text),
      });
      expect(plain(answer.text)).not.toContain(CANARY);
      expect(answer.status).toBe(UNKNOWN[title] ?? 404);
    }
    const rows = (await listChain(env.DB, 'admin', 1, 10_000)).slice(before);
    expect(rows.filter(({ outcome }) => outcome === 'done')).toEqual([]);
  });

  it.each(decided('listed'))('[ACC-9] lists nothing hidden at %s', async (title, operation) => {
    const path = title === 'GET /api/v1/approvals' ? `${title}?state=any` : title;
    if (title === 'GET /api/v1/account-servers') await takeAccounts('both');
    for (const token of [limited, partial]) {
      const answer = await ask(path, token, MISSING, exampleOf(operation));
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(CANARY);
      expect(answer.text).not.toContain(hidden.id);
    }
    const whole = await ask(path, limited, MISSING, exampleOf(operation));
    expect(whole.text).toContain(SHOWN[title]?.() ?? 'own');
    await takeAccounts('shared');
  });

  it.each(decided('own'))('[ACC-9] [SEC-6] sees only its own rows at %s', async title => {
    for (const { id, token } of both) {
      // One row of its own, and one of another token.
      await ask('POST /api/v1/keys/rotate', token, '', {});
      await ask('POST /api/v1/keys/rotate', (await createToken(portico)).token, '', {});
      const { status, text } = await ask(title, token, MISSING);
      expect(status).toBe(200);
      const ids = [...text.matchAll(/"token":"([^"]*)"/g)].map(([, found]) => found);
      expect([...new Set(ids)]).toEqual([id]);
    }
  });

  it.each(decided('neutral'))('[ACC-9] sees nothing hidden at %s', async (title, operation) => {
    const answer = await ask(title, limited, MISSING, exampleOf(operation));
    expect(answer.text).not.toContain(CANARY);
    expect(answer.text).not.toContain(hidden.id);
  });
});
