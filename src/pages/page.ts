/**
 * What the pages for people have in common: the layout, the headers, the form that comes back, and the files they are made of. They work
 * without a script, are framed by nobody and load nothing of anybody else.
 */
import { html } from 'hono/html';
import { pageHeaders, readPageFile, type FindAsset } from '../http/page-files.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';

export type Html = ReturnType<typeof html>;

const FILES = new Set(['page.css', 'code.mjs', 'passkeys.mjs']);
const FOLDER = '/pages/';

/** Whether a path is of a file of these pages. */
export const isPageFile = (path: string): boolean => path.startsWith(FOLDER);

/** A file of these pages. @throws PorticoError `not_found` */
export function servePageFile(path: string, asset: FindAsset): Promise<Response> {
  const name = path.slice(FOLDER.length);
  return readPageFile(asset, '/people', FILES, name, { formAction: 'self' });
}

export interface PageOptions {
  title: string;
  status?: number;
  /** Names of scripts that help, of the files. */
  scripts?: readonly ('code.mjs' | 'passkeys.mjs')[];
  /** Origins that a form of the page may lead to, beside our own: browsers count the redirect after it too. */
  leadsTo?: string | undefined;
  /** Where the page goes by itself at once. */
  refresh?: string;
}

/** A page of one card, kept by nobody. */
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

/** The field of a form into which a secret is pasted; the problem of the page describes it. */
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
 * Requires that a form was sent from a page of our own, where what it does depends on a cookie or makes one: browsers say where a form
 * comes from.
 * @throws PorticoError `origin_refused`
 */
export function requireOwnPage(request: Request, url: URL): void {
  if (request.headers.get('origin') === url.origin) return;
  throw new PorticoError('origin_refused', 'This form must be sent from a page of the gateway');
}

/** Leads to another page, and sets cookies; nobody keeps it, and no page after it hears of the address. */
export function redirect(location: string, ...cookies: string[]): Response {
  const headers = new Headers({
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
  });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}
