/** The page that creates the first administrator: its code works once, before it expires, and no other code has an effect. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createSetupCode,
  SETUP_CODE_MS,
  toSetupHmac,
} from '../../../src/access/setup/setup-code.ts';
import { createPortico, ORIGIN } from '../support/portico.ts';

const portico = createPortico();
const count = async (table: string, where = '1') => {
  const row = await env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).first<{
    n: number;
  }>();
  return row?.n ?? -1;
};

async function storeCode(expiresAt = Date.now() + SETUP_CODE_MS): Promise<string> {
  const code = createSetupCode();
  await env.DB.prepare('INSERT INTO setup_codes (hmac, expires_at) VALUES (?, ?)')
    .bind(await toSetupHmac(code), expiresAt)
    .run();
  return code;
}

function redeem(
  code: string,
  name = 'Ada',
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({ code, name });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return portico.fetch('/setup', {
    method: 'POST',
    headers: { ...type, ...headers },
    body: String(body),
  });
}

const tokenOf = (page: string): string => /portico_[A-Za-z0-9_-]{43}/.exec(page)?.[0] ?? '';

describe('/setup', () => {
  beforeEach(async () => {
    await env.DB.prepare('DELETE FROM setup_codes').run();
  });

  it("[OPS-4] [ACC-2] creates one administrator with a code, and stores only the code's HMAC", async () => {
    const code = await storeCode();
    const { results } = await env.DB.prepare('SELECT * FROM setup_codes').all();
    expect(JSON.stringify(results)).not.toContain(code);
    const answer = await redeem(code, '<b>Ada</b>');
    const page = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const token = tokenOf(page);
    const made = await portico.api('GET', '/api/v1/principals', undefined, { token });
    expect(made.status).toBe(200);
    expect(await made.text()).toContain('<b>Ada</b>');
    expect(await count('audit_events', "action = 'setup.redeem' AND outcome = 'done'")).toBe(1);
    const { results: rows } = await env.DB.prepare('SELECT detail FROM audit_events').all();
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(await count('setup_codes')).toBe(0);
  });

  it('[OPS-4] refuses a used, a wrong and an expired code alike, and writes nothing', async () => {
    const used = await storeCode();
    expect((await redeem(used)).status).toBe(201);
    const [other, expired] = [await storeCode(), await storeCode(Date.now() - 1)];
    const before = [await count('audit_events'), await count('principals')];
    const answers = await Promise.all(
      [used, expired, createSetupCode(), '', 'x', `${other}x`].map(async code => {
        const answer = await redeem(code);
        return [answer.status, (await answer.text()).replaceAll(/\s+/g, ' ')];
      }),
    );
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(403);
    expect([await count('audit_events'), await count('principals')]).toEqual(before);
  });

  it('[OPS-4] refuses a thousand guesses and then accepts the right code', async () => {
    const code = await storeCode();
    const before = await count('audit_events');
    for (let round = 0; round < 20; round += 1) {
      const guesses = Array.from({ length: 50 }, () => redeem(createSetupCode()));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([403]));
    }
    expect(await count('audit_events')).toBe(before);
    expect((await redeem(code)).status).toBe(201);
  });

  it('[OPS-4] accepts a code once if twenty requests send it at the same time', async () => {
    const code = await storeCode();
    const before = [await count('principals'), await count('tokens')];
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(code)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 403)]);
    expect([await count('principals'), await count('tokens')]).toEqual(before.map(n => n + 1));
  });

  it('[OPS-4] [SEC-5] is a page without a secret that loads only our own files and posts only to its own origin', async () => {
    const page = await portico.fetch('/setup');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      expect([path, (await portico.fetch(path ?? '')).status]).toEqual([path, 200]);
    }
    expect((await portico.fetch('/pages/setup-code.ts')).status).toBe(404);
    expect((await portico.fetch('/setup', { method: 'PUT' })).status).toBe(405);
    const code = await storeCode();
    const foreign = await redeem(code, 'Ada', { origin: 'https://elsewhere.example.com' });
    expect(foreign.status).toBe(403);
    expect((await redeem(code, 'Ada', { origin: ORIGIN })).status).toBe(201);
  });

  it('[OPS-4] [SEC-4] bounds what it reads', async () => {
    const code = await storeCode();
    expect((await redeem(code, 'x'.repeat(101))).status).toBe(422);
    expect((await redeem(code, 'x'.repeat(5_000))).status).toBe(413);
    expect((await redeem(code, 'Ada', { 'content-type': 'application/json' })).status).toBe(415);
    expect((await redeem(code)).status).toBe(201);
  });
});
