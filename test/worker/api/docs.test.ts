/** The page to browse the API: served without a token and without a secret, from our own files only, under a strict policy. */
import { describe, expect, it } from 'vitest';
import { ADMIN, createPortico } from '../support/portico.ts';

const portico = createPortico();
const FILES = ['docs.css', 'docs.mjs', 'swagger-ui.css', 'swagger-ui-bundle.js'];

describe('/docs', () => {
  it('[REG-8] is a page that asks for a token, and loads all its parts from here', async () => {
    const page = await portico.fetch('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await page.text();
    expect(html).toContain('type="password"');
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
    const own = parts.filter(path => path !== 'data:,');
    expect(own.toSorted()).toEqual(FILES.map(name => `/docs/${name}`).toSorted());
    for (const path of own) {
      const part = await portico.fetch(path ?? '');
      expect([path, part.status]).toEqual([path, 200]);
      expect(part.headers.get('content-type')).toMatch(/^text\/(css|javascript)/);
      expect((await part.text()).length).toBeGreaterThan(100);
    }
  });

  it('[REG-8] [SEC-5] allows nothing from other origins, nothing inline and no frame', async () => {
    for (const path of ['/docs', '/docs/docs.mjs']) {
      const { headers } = await portico.fetch(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    const html = await (await portico.fetch('/docs')).text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
  });

  it('[SEC-2] holds no secret, and the document still requires a token', async () => {
    expect(await (await portico.fetch('/docs')).text()).not.toContain(ADMIN);
    expect((await portico.fetch('/openapi.json')).status).toBe(401);
  });

  it('[REG-8] refuses paths that are none of its files', async () => {
    const others = ['/docs/LICENSE', '/docs/x', '/docs/../wrangler.toml', '/docs/constructor'];
    for (const path of others) {
      const response = await portico.fetch(path, { headers: { authorization: `Bearer ${ADMIN}` } });
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect((await portico.fetch('/docs', { method: 'POST' })).status).toBe(405);
    const head = await portico.fetch('/docs', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('[SEC-5] is not shown to a page of another origin', async () => {
    const headers = { origin: 'https://elsewhere.example.com' };
    expect((await portico.fetch('/docs', { headers })).status).toBe(403);
  });
});

describe('/schema/portico.json', () => {
  it('[OPS-6] is served to editors without a token', async () => {
    const response = await portico.fetch('/schema/portico.json');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/schema+json');
    const schema = await response.json<{ $schema: string; properties: object }>();
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(Object.keys(schema.properties)).toContain('servers');
    const head = await portico.fetch('/schema/portico.json', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await portico.fetch('/schema/portico.json', { method: 'PUT' })).status).toBe(405);
    expect((await portico.fetch('/schema/other.json')).status).toBe(401);
  });
});
