/**
 * What the pages for people share: layout, headers, forms and static files. The pages work without a script, cannot be framed, and load
 * nothing from other origins.
 */
import { html } from 'hono/html';
import { pageHeaders, readPageFile, type FindAsset } from '../http/page-files.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';

export type Html = ReturnType<typeof html>;

const FILES = new Set(['page.css', 'code.mjs', 'passkeys.mjs']);
const FOLDER = '/pages/';

/** Whether a path is one of the static files of these pages. */
export const isPageFile = (path: string): boolean => path.startsWith(FOLDER);

/** Serves a static file of these pages. @throws PorticoError `not_found` */
export function servePageFile(path: string, asset: FindAsset): Promise<Response> {
  const name = path.slice(FOLDER.length);
  return readPageFile(asset, '/people', FILES, name, { formAction: 'self' });
}

export interface PageOptions {
  title: string;
  status?: number;
  /** File names of the optional scripts. */
  scripts?: readonly ('code.mjs' | 'passkeys.mjs')[];
  /** Scheme to which a form of the page may redirect, besides our own origin: browsers apply the form policy to that redirect too. */
  leadsTo?: string | undefined;
  /** URL to which the page redirects at once. */
  refresh?: string;
}

/** Returns a page with one card; must not be cached. */
export async function toPage(
  main: Html,
  { title, status = 200, scripts = [], leadsTo, refresh }: PageOptions,
): Promise<Response> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${refresh ? html`<meta http-equiv="refresh" content="0;url=${refresh}" />` : ''}
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/pages/page.css" />
        ${scripts.map(name => html`<script src="/pages/${name}" type="module"></script>`)}
      </head>
      <body>
        <main>${await main}</main>
      </body>
    </html> `;
  const headers = pageHeaders('html', { formAction: 'self', leadsTo });
  headers.set('cache-control', 'no-store');
  return new Response(String(await page), { status, headers });
}

/** Form field for pasting a secret, described by the page's problem. */
export const secretField = (name: string, label: string): Html => html`
  <label for="${name}">${label}</label>
  <input
    id="${name}"
    name="${name}"
    type="password"
    required
    autofocus
    spellcheck="false"
    autocomplete="off"
    aria-describedby="problem"
  />
`;

/**
 * Requires that a form came from a page of our own, by its `origin` header. Needed where a form's effect depends on a cookie or creates
 * one.
 * @throws PorticoError `origin_refused`
 */
export function requireOwnPage(request: Request, url: URL): void {
  if (request.headers.get('origin') === url.origin) return;
  throw new PorticoError('origin_refused', 'This form must be sent from a page of the gateway');
}

/** Redirects to another page and sets cookies. The response must not be cached, and other origins do not see the address. */
export function redirect(location: string, ...cookies: string[]): Response {
  const headers = new Headers({
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
  });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}
