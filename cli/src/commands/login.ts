/** `portico login` and `portico logout`: sign in to a gateway with a browser, so that nobody has to copy a token. */
import type { Command } from 'commander';
import { Failure } from '../failure.ts';
import { readLoginUrl } from '../gateway-options.ts';
import { Api, OWN_TOKEN } from '../gateway/api.ts';
import { readLogin, removeLogin, toLoginFolder, writeLogin } from '../login/login-store.ts';
import { hasBrowser } from '../login/open-browser.ts';
import { storedToken } from '../login/stored-token.ts';
import { visible } from '../output/table.ts';
import { note } from '../terminal.ts';

interface LoginOptions {
  device?: boolean;
  browser: boolean;
}

const CANCELLED = 130;
const GATEWAY = 'URL of the gateway (default PORTICO_URL, or the only one signed in to)';

const LOGIN_HELP = `
Over SSH or without a display, a code is shown, to be typed into a browser on
any other machine; --device asks for that. The page shows what the login may do,
which is what you may do.

Other commands use the login if no token is given, and renew it. It is kept in
portico/logins below your configuration folder, readable for you alone. With a
login to exactly one gateway, that gateway is the default if you give neither a
gateway nor a token.

Examples:
  portico login https://portico.example.com
  portico login --device
  portico login https://portico.example.com --no-browser`;

const LOGOUT_HELP = `
Examples:
  portico logout
  portico logout https://portico.example.com
  portico logout https://portico.example.com --local`;

/** Adds `login` and `logout`. */
export function addLogin(program: Command): void {
  program
    .command('login')
    .argument('[url]', GATEWAY)
    .summary('sign in to a gateway with a browser')
    .description('Sign in to a gateway with a browser, for the commands that follow.')
    .option('--device', 'show a code for a browser on another machine')
    .option('--no-browser', 'print the address of the page instead of opening it')
    .addHelpText('after', LOGIN_HELP)
    .action(login);
  program
    .command('logout')
    .argument('[url]', GATEWAY)
    .summary('sign out of a gateway')
    .description('Sign out of a gateway: the login is revoked there and deleted here.')
    .option('--local', 'delete the login here without telling the gateway')
    .addHelpText('after', LOGOUT_HELP)
    .action(logout);
}

async function login(url: string | undefined, options: LoginOptions): Promise<void> {
  const { origin } = readLoginUrl({ url }, process.env);
  const folder = toLoginFolder(process.env);
  const ended = new AbortController();
  process.once('SIGINT', () => ended.abort(new Failure('cancelled', CANCELLED)));
  const { signal } = ended;
  const { findServer, register } = await import('../login/authorization-server.ts');
  const { askRevoke } = await import('../login/refresh.ts');
  const server = await findServer(origin);
  const former = await readLogin(folder, origin);
  // Tries to revoke a token that does not exist: the response shows whether the gateway still knows the client.
  const isKnown = former !== undefined && (await askRevoke(origin, former, 'none'));
  const clientId = isKnown ? former.client_id : await register(server);
  const isHere = options.browser ? hasBrowser(process.platform, process.env) : true;
  const made = await (options.device === true || !isHere
    ? (await import('../login/device-login.ts')).loginByDevice(server, clientId, signal)
    : (await import('../login/browser-login.ts')).loginByBrowser(server, clientId, {
        opens: options.browser,
        signal,
      }));
  await writeLogin(folder, origin, made);
  if (isKnown) await askRevoke(origin, former, former.refresh_token).catch(() => {});
  const api = new Api(new URL(origin), storedToken(folder, origin));
  const { scopes } = await api.json<{ scopes: string[] }>('GET', OWN_TOKEN);
  note(`signed in to ${origin}; this machine may: ${visible(scopes.join(', '))}`);
}

async function logout(url: string | undefined, { local }: { local?: boolean }): Promise<void> {
  const { origin } = readLoginUrl({ url }, process.env);
  const folder = toLoginFolder(process.env);
  const known = await readLogin(folder, origin);
  if (!known) return note(`not signed in to ${origin}`);
  if (!local) {
    const { askRevoke } = await import('../login/refresh.ts');
    try {
      await askRevoke(origin, known, known.refresh_token);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(`${error.message}; still signed in; --local deletes the login here`);
    }
  }
  await removeLogin(folder, origin);
  note(`signed out of ${origin}`);
}
