/** Opens a page in the user's browser, if there is one. */
import { spawn } from 'node:child_process';
import type { Environment } from '../folders.ts';

/** Whether a browser would be visible to the user: not over SSH, and on Linux only with a display. */
export function hasBrowser(platform: NodeJS.Platform, env: Environment): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY'] || env['SSH_CLIENT']) return false;
  if (platform === 'win32' || platform === 'darwin') return true;
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['BROWSER']);
}

/** The command that opens an address, and its arguments. No shell interprets them. */
function commandFor(platform: NodeJS.Platform, url: string): [string, string[]] {
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

/** @returns whether the command could be started; whether the page opened is unknown */
export function openBrowser(url: URL): Promise<boolean> {
  const [command, words] = commandFor(process.platform, url.href);
  return new Promise(resolve => {
    const child = spawn(command, words, { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
