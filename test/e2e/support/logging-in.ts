/** A person who signs the command line in, on a separate machine: with a browser there, or with a code that it shows. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Person } from '../../fixtures/person.ts';
import { COMPILE_CACHE, MAIN, runPortico, type Ran } from './portico-command.ts';

/** The stored file of a login. */
export interface KeptLogin {
  client_id: string;
  access_token: string;
  refresh_token: string;
  expires_at: number;
}

export interface LoginMachine {
  env: Record<string, string>;
  /** Runs a command there to its end; no token is passed to it. */
  run(...words: string[]): Promise<Ran>;
  /** Starts `portico login`. */
  begin(...words: string[]): Beginning;
  kept(): Promise<KeptLogin>;
  /** Makes the stored access token expire, as if the machine's clock had advanced. */
  expire(): Promise<KeptLogin>;
  /** Changes the stored login to a gateway at another address. */
  rename(origin: string): Promise<void>;
  remove(): Promise<void>;
}

export interface Beginning {
  /** Waits for output that matches. */
  said(expression: RegExp): Promise<string>;
  interrupt(): void;
  ended: Promise<{ code: number | null; err: string }>;
}

/** @param opens a command instead of a browser; without it the machine has no display */
export async function createLoginMachine(opens?: string): Promise<LoginMachine> {
  const home = await mkdtemp(join(tmpdir(), 'portico-machine-'));
  const bin = join(home, 'bin');
  await mkdir(bin);
  if (opens !== undefined) {
    await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\n${opens}\n`);
    await chmod(join(bin, 'xdg-open'), 0o755);
  }
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    ...(opens === undefined ? {} : { DISPLAY: ':0' }),
  };
  const folder = join(home, '.config/portico/logins');
  const file = async () => join(folder, (await readdir(folder))[0] ?? '');
  const kept = async () => JSON.parse(await readFile(await file(), 'utf8')) as KeptLogin;
  return {
    env,
    run: (...words) => runPortico(words, { env }),
    begin(...words) {
      const child = spawn(process.execPath, [MAIN, 'login', ...words], {
        env: { ...COMPILE_CACHE, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let err = '';
      const looks = new Set<() => void>();
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text;
        for (const look of looks) look();
      });
      const { promise: ended, resolve } = Promise.withResolvers<{
        code: number | null;
        err: string;
      }>();
      child.once('close', code => resolve({ code, err }));
      const said = (expression: RegExp) => {
        const found = Promise.withResolvers<string>();
        const look = () => {
          const text = expression.exec(err)?.[0];
          if (text !== undefined) found.resolve(text);
        };
        looks.add(look);
        look();
        void ended.then(() => found.reject(new Error(`It ended: ${err}`)));
        return found.promise;
      };
      return { said, interrupt: () => void child.kill('SIGINT'), ended };
    },
    kept,
    async expire() {
      const login = { ...(await kept()), expires_at: Date.now() };
      await writeFile(await file(), JSON.stringify(login));
      return login;
    },
    async rename(origin) {
      const login = {
        ...(await kept()),
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
      };
      const path = join(folder, `${encodeURIComponent(origin)}.json`);
      await rename(await file(), path);
      await writeFile(path, JSON.stringify(login));
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

const ADDRESS = /http\S+\/authorize\?\S+(?=\s)/;

/** Signs the machine in completely: a person opens the address that it shows. @returns the text of the last page */
export async function logIn(
  machine: LoginMachine,
  origin: string,
  person: Person,
): Promise<string> {
  const beginning = machine.begin(origin, '--no-browser');
  const page = await fetch(await person.allow(await beginning.said(ADDRESS)));
  const { code, err } = await beginning.ended;
  if (code !== 0) throw new Error(`${code} ${err}`);
  return page.text();
}
