/**
 * The token of a login. It is renewed a minute before it expires, or when the gateway refuses it. The file is read each time, since another
 * process may have renewed the token.
 */
import { EXIT, Failure } from '../failure.ts';
import { readLogin, writeLogin, type Login } from './login-store.ts';
import type { TokenSource } from './token-source.ts';

/** A token is used only if it is valid for longer than this, in milliseconds. */
const MARGIN_MS = 60_000;

/** One more try after another process renewed the token. */
const TRIES = 2;

export const signedOut = (origin: string): Failure =>
  new Failure(`signed out of ${origin}: run portico login ${origin}`, EXIT.denied);

/** @param folder with all logins */
export function storedToken(folder: string, origin: string): TokenSource {
  const read = async (): Promise<Login> => {
    const login = await readLogin(folder, origin);
    if (!login) throw signedOut(origin);
    return login;
  };
  return {
    async get() {
      const login = await read();
      if (login.expires_at - Date.now() > MARGIN_MS) return login.access_token;
      return (await refresh(folder, origin, login)).access_token;
    },
    async renew(refused) {
      const login = await read();
      // Another process has renewed it already.
      if (login.access_token !== refused) return login.access_token;
      return (await refresh(folder, origin, login)).access_token;
    },
  };
}

/** @throws Failure where the gateway no longer knows the login, or cannot be reached */
async function refresh(folder: string, origin: string, first: Login): Promise<Login> {
  const { askRefresh } = await import('./refresh.ts');
  let login = first;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const next = await askRefresh(origin, login);
    const stored = await readLogin(folder, origin);
    const isStill = stored?.refresh_token === login.refresh_token;
    if (next) {
      // Do not overwrite a sign-out or a new login that happened meanwhile.
      if (isStill) await writeLogin(folder, origin, next);
      return next;
    }
    if (!stored || isStill) break;
    login = stored;
    if (login.expires_at - Date.now() > MARGIN_MS) return login;
  }
  throw signedOut(origin);
}
