/** An invitation signs its principal in once; administrators see sign-ins, and end them. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { createPortico, createToken } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

interface SignInView {
  id: string;
  principal: string;
  principal_name: string;
  by: string;
  token: string | null;
}
interface IssuedView {
  id: string;
  code: string;
  path: string;
  expires_at: string;
}

const INVITATIONS = '/api/v1/invitations';
const portico = createPortico();
const invitations = createRecords<IssuedView>(portico, INVITATIONS);
const signIns = createRecords<SignInView>(portico, '/api/v1/sign-ins');

const addPrincipal = async (more: object = {}) => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Ada', ...more });
  return (await made.json<{ id: string }>()).id;
};
const invite = async (principal: string, more: object = {}): Promise<IssuedView> => {
  const made = await portico.api('POST', INVITATIONS, { principal, ...more });
  expect(made.status).toBe(201);
  return made.json();
};
const redeem = (code: string) => createBrowser(portico).post('/sign-in', { code });
const rowsOf = async (principal: string) => {
  const { results } = await env.DB.prepare('SELECT * FROM sign_ins WHERE principal_id = ?')
    .bind(principal)
    .all();
  return results.length;
};

describe('an invitation', () => {
  beforeEach(async () => {
    await env.DB.batch(
      ['invitations', 'sign_ins'].map(table => env.DB.prepare(`DELETE FROM ${table}`)),
    );
  });

  it('[ACC-7] signs its principal in, once, and is shown once', async () => {
    const principal = await addPrincipal();
    const { id, code, path, expires_at: expires } = await invite(principal);
    expect(path).toBe(`/sign-in#${code}`);
    expect(Date.parse(expires) - Date.now()).toBeGreaterThan(86_300_000);
    const listed = await invitations.list(`principal=${principal}`);
    expect(listed).toMatchObject({ total: 1, invitations: [{ id, principal_name: 'Ada' }] });
    const { results } = await env.DB.prepare('SELECT * FROM invitations').all();
    expect(JSON.stringify([listed, results])).not.toContain(code);
    const browser = createBrowser(portico);
    expect((await browser.post('/sign-in', { code })).status).toBe(303);
    expect(await (await browser.get('/sign-in')).text()).toContain('<strong>Ada</strong>');
    expect(await signIns.list(`principal=${principal}`)).toMatchObject({
      total: 1,
      sign_ins: [{ principal, principal_name: 'Ada', by: 'invitation', token: null }],
    });
    expect((await redeem(code)).status).toBe(403);
    expect(await invitations.refusal('GET', `/${id}`)).toMatchObject({ status: 404 });
    const { results: rows } = await env.DB.prepare(
      'SELECT action, principal_id FROM audit_events WHERE token_id = ? OR subject = ? ORDER BY at, seq',
    )
      .bind(id, id)
      .all();
    expect(rows.map(row => row['action'])).toEqual(['invitation.create', 'sign_in.create']);
    expect(rows[1]?.['principal_id']).toBe(principal);
    const { results: details } = await env.DB.prepare('SELECT detail FROM audit_events').all();
    expect(JSON.stringify(details)).not.toContain(code);
  });

  it('[ACC-7] is used by one of twenty at the same moment', async () => {
    const principal = await addPrincipal();
    const { code } = await invite(principal);
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(code)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([303, ...Array.from({ length: 19 }, () => 403)]);
    expect(await rowsOf(principal)).toBe(1);
  });

  it('[ACC-7] is refused once it has expired, was deleted, or its principal is deleted', async () => {
    const principal = await addPrincipal();
    const [expired, deleted, orphan] = [
      await invite(principal),
      await invite(principal),
      await invite(await addPrincipal({ name: 'Bo' })),
    ];
    await env.DB.prepare('UPDATE invitations SET expires_at = ? WHERE id = ?')
      .bind(Date.now(), expired.id)
      .run();
    await invitations.remove(deleted.id);
    const bo = await env.DB.prepare("SELECT id FROM principals WHERE name = 'Bo'").first();
    await portico.api('DELETE', `/api/v1/principals/${String(bo?.['id'])}`);
    const unknown = 'A'.repeat(43);
    const answers = await Promise.all(
      [expired.code, deleted.code, orphan.code, unknown].map(async code => {
        const answer = await redeem(code);
        return `${answer.status} ${await answer.text()}`;
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^403 /);
    expect(await rowsOf(principal)).toBe(0);
    expect(await invitations.list('')).toMatchObject({ total: 0 });
    await invite(principal);
    const left = await env.DB.prepare('SELECT count(*) AS n FROM invitations').first();
    expect(left).toEqual({ n: 1 });
  });

  it.each<[string, object, object]>([
    ['of no principal', { principal: 'nobody' }, { status: 422, fields: ['principal'] }],
    ['of too short a time', { valid_seconds: 599 }, { status: 422 }],
    ['of too long a time', { valid_seconds: 604_801 }, { status: 422 }],
    ['that says its code', { code: 'x' }, { status: 422 }],
  ])('[ACC-7] %s is refused', async (_what, more, problem) => {
    const body = { principal: await addPrincipal(), ...more };
    expect(await invitations.refusal('POST', '', body)).toMatchObject(problem);
  });

  it('[ACC-7] [ACC-9] is created only by administrators without limits', async () => {
    const principal = await addPrincipal();
    for (const more of [{ scopes: ['servers:write'] }, { scopes: ['admin'], tools: ['*.get_*'] }]) {
      const { token } = await createToken(portico, more);
      for (const [method, path] of [
        ['POST', INVITATIONS],
        ['GET', INVITATIONS],
        ['GET', '/api/v1/sign-ins'],
      ] as const) {
        const body = method === 'POST' ? { principal } : undefined;
        const answer = await portico.api(method, path, body, { token });
        expect([method, path, answer.status]).toEqual([method, path, 403]);
      }
    }
  });
});

describe('a sign-in', () => {
  it('[ACC-7] is visible to administrators, and ended at once', async () => {
    const { id: token, token: value } = await createToken(portico, { name: 'Cy' });
    const browser = createBrowser(portico);
    await browser.post('/sign-in', { code: value });
    const { sign_ins: all } = (await signIns.list('')) as { sign_ins: SignInView[] };
    const found = all.find(each => each.token === token);
    expect(found).toMatchObject({ principal_name: 'Cy', by: 'token' });
    expect(JSON.stringify(all)).not.toContain(browser.cookie.split('=')[1]);
    expect(await signIns.get(found?.id ?? '')).toEqual(found);
    await signIns.remove(found?.id ?? '');
    expect(await (await browser.get('/sign-in')).text()).toContain('name="code"');
    expect(await signIns.refusal('DELETE', `/${found?.id}`)).toMatchObject({ status: 404 });
  });
});
