/**
 * `/console`: one page whose scripts call the API as the person signed in with the browser. Every path below it serves the same page, which
 * selects its view by the path. Its file names contain content hashes, so browsers may cache the files for ever.
 */
import { answerPage, pageHeaders, type PagePorts } from '../http/page-files.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { SignIns } from '../sign-in/signed-in.ts';
import { redirect } from './page.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface ConsolePorts extends PagePorts {
  signIns: SignIns;
}

const ROOT = '/console';
const FILES = `${ROOT}/assets/`;
/** File names of the build: a word, a hash, and the file type. */
const FILE_NAME = /^[A-Za-z0-9_-]{1,80}\.(js|css|svg)$/;
const KEPT = 'public, max-age=31536000, immutable';

/** Whether a path belongs to the console. */
export const isConsolePath = (path: string): boolean =>
  path === ROOT || path.startsWith(`${ROOT}/`);

/** Serves the page or one of its files. */
export function handleConsole(request: Request, url: URL, ports: ConsolePorts): Promise<Response> {
  return answerPage(request, url, ports, ['GET', 'HEAD'], () =>
    url.pathname.startsWith(FILES) ? toFile(url, ports) : toShell(request, url, ports),
  );
}

/** People who are not signed in go to the sign-in page first, unless they bring a token of their own. */
async function toShell(request: Request, url: URL, ports: ConsolePorts): Promise<Response> {
  const { pathname, search } = url;
  const bringsToken = url.searchParams.has('token');
  if (!bringsToken && !(await ports.signIns.of(request, url))) {
    return redirect(toSignInPath(pathname + search));
  }
  const found = await ports.asset(`${ROOT}/index.html`);
  if (found.status !== 200) throw new PorticoError('not_found');
  const headers = pageHeaders('html', { formAction: 'self' });
  headers.set('cache-control', 'no-store');
  return new Response(found.body, { headers });
}

async function toFile({ pathname }: URL, { asset }: ConsolePorts): Promise<Response> {
  const name = pathname.slice(FILES.length);
  const extension = FILE_NAME.exec(name)?.[1];
  const found = extension === undefined ? undefined : await asset(`${FILES}${name}`);
  if (extension === undefined || found?.status !== 200) throw new PorticoError('not_found');
  const headers = pageHeaders(extension, { formAction: 'self' });
  headers.set('cache-control', KEPT);
  return new Response(found.body, { headers });
}
