/**
 * `/setup`: the page on which whoever deployed a gateway becomes its first administrator. It takes the setup code, creates the token and
 * shows it this once. The page looks the same whether a code is open or not. Works without a script; the script only removes the code from
 * the address.
 */
import { html } from 'hono/html';
import type { SetupService } from '../access/setup/setup-service.ts';
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toPage, type Html } from './page.ts';

export interface SetupPorts extends PagePorts {
  setup: Pick<SetupService, 'redeem'>;
}

const MAX_BODY_BYTES = 2_000;
const MAX_NAME_CHARS = 100;

/** Whether a path is that of the page. */
export const isSetupPath = (path: string): boolean => path === '/setup';

/** Serves the page or takes a code. */
export function handleSetup(request: Request, url: URL, ports: SetupPorts): Promise<Response> {
  return answerPage(request, url, ports, ['GET', 'HEAD', 'POST'], async () => {
    if (request.method !== 'POST') return toSetupPage(200, askForCode());
    const form = await readForm(request, MAX_BODY_BYTES);
    const name = (form.get('name') ?? '').trim() || 'admin';
    if (name.length > MAX_NAME_CHARS) {
      throw new PorticoError('validation_failed', `name: at most ${MAX_NAME_CHARS} characters`);
    }
    try {
      const token = await ports.setup.redeem((form.get('code') ?? '').trim(), name);
      return await toSetupPage(201, showToken(token, url.origin));
    } catch (thrown) {
      const error = toPorticoError(thrown);
      return toSetupPage(error.entry.status, askForCode(error.message));
    }
  });
}

const toSetupPage = (status: number, main: Html) =>
  toPage(main, { title: 'Set up Portico', status, scripts: ['code.mjs'] });

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
  <p><a href="/console">Open the console</a>, and paste it there.</p>
  <p>Or go on from a terminal in the folder of the project:</p>
  <pre tabindex="0">
export PORTICO_URL=${origin} PORTICO_TOKEN=${token}
portico servers add NAME https://mcp.example.com/mcp
portico token create ada</pre>
  <p>Members put <code>${origin}/mcp</code> and their own token into their client.</p>
`;
