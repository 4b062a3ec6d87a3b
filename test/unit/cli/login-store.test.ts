/** The stored logins of a machine: private to their owner, written atomically, one file per gateway. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  hasLogin,
  listLogins,
  readLogin,
  removeLogin,
  toLoginFolder,
  writeLogin,
} from '../../../cli/src/login/login-store.ts';
import { hasBrowser } from '../../../cli/src/login/open-browser.ts';

const ORIGIN = 'https://portico.example.com';
const LOGIN = {
  client_id: 'client',
  token_endpoint: `${ORIGIN}/token`,
  revocation_endpoint: `${ORIGIN}/revoke`,
  access_token: 'access',
  refresh_token: 'refresh',
  expires_at: 1_000,
};
let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'portico-login-'));
  folder = toLoginFolder({ XDG_CONFIG_HOME: home });
});
afterEach(() => rmSync(home, { recursive: true }));

const fileOf = () => join(folder, readdirSync(folder)[0] ?? '');

describe('a login', () => {
  it('[CLI-4] [SEC-1] is private to its owner, by gateway', async () => {
    expect(await readLogin(folder, ORIGIN)).toBeUndefined();
    expect(listLogins(folder)).toEqual([]);
    await writeLogin(folder, ORIGIN, LOGIN);
    await writeLogin(folder, 'http://[::1]:8787', { ...LOGIN, access_token: 'other' });
    expect(listLogins(folder).toSorted()).toEqual(['http://[::1]:8787', ORIGIN]);
    expect(await readLogin(folder, ORIGIN)).toEqual(LOGIN);
    expect([hasLogin(folder, ORIGIN), hasLogin(folder, `${ORIGIN}:444`)]).toEqual([true, false]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
    await removeLogin(folder, ORIGIN);
    await removeLogin(folder, ORIGIN);
    expect(listLogins(folder)).toEqual(['http://[::1]:8787']);
  });

  it('[CLI-4] [SEC-1] is not read if others could read it, or if it is malformed', async () => {
    await writeLogin(folder, ORIGIN, LOGIN);
    chmodSync(fileOf(), 0o640);
    await expect(readLogin(folder, ORIGIN)).rejects.toThrow(/others may read .*chmod 600/);
    chmodSync(fileOf(), 0o600);
    writeFileSync(fileOf(), '{"access_token": "s3cret"');
    const problem = await readLogin(folder, ORIGIN).catch((error: Error) => error.message);
    expect(problem).toMatch(/has an invalid format/);
    expect(problem).not.toContain('s3cret');
  });

  it('[CLI-4] is complete at every moment, with many concurrent writers', async () => {
    await writeLogin(folder, ORIGIN, LOGIN);
    const writes = Array.from({ length: 40 }, (_, at) =>
      writeLogin(folder, ORIGIN, { ...LOGIN, access_token: String(at).repeat(2_000) }),
    );
    const reads = Array.from({ length: 40 }, () => readLogin(folder, ORIGIN));
    await Promise.all([...writes, ...reads]);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(JSON.parse(readFileSync(fileOf(), 'utf8'))).toMatchObject({ refresh_token: 'refresh' });
  });

  it('[CLI-4] never names another file', () => {
    writeFileSync(join(home, 'x'), '');
    expect(listLogins(home)).toEqual([]);
    for (const origin of ['../x', 'https://a.example/../../x']) {
      expect(hasLogin(folder, origin)).toBe(false);
    }
  });
});

describe('a browser', () => {
  it.each<[NodeJS.Platform, Record<string, string>, boolean]>([
    ['darwin', {}, true],
    ['win32', {}, true],
    ['darwin', { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, false],
    ['linux', {}, false],
    ['linux', { DISPLAY: ':0' }, true],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
    ['linux', { BROWSER: 'w3m' }, true],
    ['linux', { DISPLAY: 'localhost:10.0', SSH_TTY: '/dev/pts/0' }, false],
  ])('[CLI-4] on %s with %j is detected: %s', (platform, env, isSeen) => {
    expect(hasBrowser(platform, env)).toBe(isSeen);
  });
});
