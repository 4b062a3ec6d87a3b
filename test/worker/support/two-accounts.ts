/** Ada and Bob with an account each at one server, at whose issuer they signed in; anew before each test of a file. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { createPerson, type Person } from './call-rows.ts';
import { signIn } from './oauth-client.ts';
import { createPortico, register, whenServer } from './portico.ts';
import { comeBack, IssuedServer, leave, serveIssued } from './signed-in-accounts.ts';

export function useTwoAccounts(name: string) {
  const portico = createPortico();
  const at = new IssuedServer(name);
  const people = { ada: {} as Person, bob: {} as Person };
  /** Somebody signs in there under a name. @returns what the page says at the end */
  async function connect({ token }: Person, login: string): Promise<string> {
    const browser = await signIn(portico, token);
    return comeBack(browser, at.issuer.agree(await leave(browser, name), login));
  }
  const found = { portico, at, people, connect, id: '' };
  beforeAll(async () => {
    serveIssued(at);
    found.id = (await register(portico, name, { accounts: 'per_principal' })).id;
  });
  // A clock that stands still would stand still for the next file too.
  afterEach(() => {
    vi.useRealTimers();
  });
  beforeEach(async () => {
    serveIssued(at);
    at.reset();
    await env.DB.prepare('DELETE FROM accounts').run();
    for (const login of ['ada', 'bob'] as const) {
      Object.assign(people[login], await createPerson(portico, { name: login }));
      expect(await connect(people[login], login)).toContain('Connected');
    }
    await whenServer(portico, found.id, ({ status }) => status === 'CONNECTED');
    at.issuer.asked.length = 0;
  });
  return found;
}
