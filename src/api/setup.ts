/**
 * `/setup`: the page on which whoever deployed a gateway becomes its first administrator. It takes the setup code, makes the token and
 * shows it this once. It looks the same whether a code is open or not. Works without a script; the script only takes the code out of
 * the address.
 */
import { html } from 'hono/html';
import type { SetupService } from '../access/setup/setup-service.ts';
import { BodyTooLarge, readText } from '../http/read-text.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { answerPage, pageHeaders, readPageFile, type PagePorts } from './page-files.ts';

export interface SetupPorts extends PagePorts {
  setup: Pick<SetupService, 'redeem'>;
}

const FILES = new Set(['setup.css', 'setup.mjs']);
const POLICY = { formAction: 'self' } as const;
const MAX_BODY_BYTES = 2_000;
const MAX_NAME_CHARS = 100;

type Html = ReturnType<typeof html>;

/** Whether a path belongs to the page. */
export const isSetupPath = (path: string): boolean =>
  path === '/setup' || path.startsWith('/setup/');

/** Answer a request for the page, one of its files, or with a code. */
export function handleSetup(request: Request, url: URL, ports: SetupPorts): Promise<Response> {
  const isPage = url.pathname === '/setup';
  const methods = isPage ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  return answerPage(request, url, ports, methods, async () => {
    if (!isPage) {
      const name = url.pathname.slice('/setup/'.length);
      return readPageFile(ports.asset, '/setup', FILES, name, POLICY);
    }
    if (request.method !== 'POST') return toPage(200, askForCode());
    const { code, name } = await readForm(request);
    try {
      return await toPage(201, showToken(await ports.setup.redeem(code, name), url.origin));
    } catch (thrown) {
      const error = toPorticoError(thrown);
      return toPage(error.entry.status, askForCode(error.message));
    }
  });
}

/** @throws PorticoError `unsupported_media_type`, `payload_too_large`, `validation_failed` */
async function readForm(request: Request): Promise<{ code: string; name: string }> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new PorticoError('unsupported_media_type');
  let text: string;
  try {
    text = await readText(request, request.headers, MAX_BODY_BYTES);
  } catch (error) {
    throw error instanceof BodyTooLarge ? new PorticoError('payload_too_large') : error;
  }
  const fields = new URLSearchParams(text);
  const name = (fields.get('name') ?? '').trim() || 'admin';
  if (name.length > MAX_NAME_CHARS) {
    throw new PorticoError('validation_failed', `name: at most ${MAX_NAME_CHARS} characters`);
  }
  return { code: (fields.get('code') ?? '').trim(), name };
}

async function toPage(status: number, main: Html): Promise<Response> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Set up Portico</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/setup/setup.css" />
        <script src="/setup/setup.mjs" type="module"></script>
      </head>
      <body>
        <main>${await main}</main>
      </body>
    </html> `;
  const headers = pageHeaders('html', POLICY);
  headers.set('cache-control', 'no-store');
  return new Response(String(await page), { status, headers });
}

const askForCode = (problem = ''): Html => html`
  <h1>Set up Portico</h1>
  <p>
    The deployment printed a setup code. It makes you the first administrator of this gateway, once.
  </p>
  <form method="post" action="/setup" autocomplete="off">
    <label for="code">Setup code</label>
    <input id="code" name="code" type="password" required spellcheck="false" />
    <label for="name">Your name</label>
    <input id="name" name="name" maxlength="${MAX_NAME_CHARS}" placeholder="admin" />
    <button type="submit">Become administrator</button>
    <p id="problem" role="alert">${problem}</p>
  </form>
`;

const showToken = (token: string, origin: string): Html => html`
  <h1>You are the administrator</h1>
  <p>This is your token. It is shown this once; keep it where you keep passwords.</p>
  <pre id="token" tabindex="0">${token}</pre>
  <p>Next, from a terminal in the folder of the project:</p>
  <pre tabindex="0">
export PORTICO_URL=${origin} PORTICO_TOKEN=${token}
portico servers add NAME https://mcp.example.com/mcp
portico token create ada</pre>
  <p>Members put <code>${origin}/mcp</code> and their own token into their client.</p>
`;
