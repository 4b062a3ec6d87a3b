/** Maps paths to the pages for people. */
import { answerPage } from '../http/page-files.ts';
import { handleAuthorize, type AuthorizePorts } from './authorize.ts';
import { handleConsole, isConsolePath, type ConsolePorts } from './console.ts';
import { handleConnect, isConnectPath, type ConnectPagePorts } from './connect.ts';
import { handleDevice, type DevicePagePorts } from './device.ts';
import { isPageFile, redirect, servePageFile } from './page.ts';
import { handlePasskeys, isPasskeyPath, type PasskeyPagePorts } from './passkeys.ts';
import { handleSetup, isSetupPath, type SetupPorts } from './setup.ts';
import { handleSignIn, isSignInPath, type SignInPagePorts } from './sign-in.ts';

export type PagesPorts = AuthorizePorts &
  ConsolePorts &
  ConnectPagePorts &
  DevicePagePorts &
  PasskeyPagePorts &
  SetupPorts &
  SignInPagePorts;

/** Returns the response of a page; undefined if the path is not one of a page. */
export function servePage(
  request: Request,
  url: URL,
  ports: PagesPorts,
): Promise<Response> | undefined {
  const { pathname } = url;
  if (pathname === '/authorize') return handleAuthorize(request, url, ports);
  if (pathname === '/device') return handleDevice(request, url, ports);
  if (isSignInPath(pathname)) return handleSignIn(request, url, ports);
  if (isPasskeyPath(pathname)) return handlePasskeys(request, url, ports);
  if (isConnectPath(pathname)) return handleConnect(request, url, ports);
  if (pathname === '/' && asksForPage(request)) return Promise.resolve(redirect('/console'));
  if (isConsolePath(pathname)) return handleConsole(request, url, ports);
  if (isSetupPath(pathname)) return handleSetup(request, url, ports);
  if (!isPageFile(pathname)) return undefined;
  const read = () => servePageFile(pathname, ports.asset);
  return answerPage(request, url, ports, ['GET', 'HEAD'], read);
}

/** Whether a browser opens a page; programs that send a request to the bare origin get the answer of the API. */
const asksForPage = ({ method, headers }: Request): boolean =>
  method === 'GET' && headers.get('accept')?.includes('text/html') === true;
