/** Ada and Bob, each with an account at one server by a sign-in at its issuer; created again before each test of a file. */
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
  /** A person signs in there under a name. @returns the text of the last page */
  async function connect({ token }: Person, login: string): Promise<string> {
    const browser = await signIn(portico, token);
    return comeBack(browser, at.issuer.agree(await leave(browser, name), login));
  }
  const found = { portico, at, people, connect, id: '' };
  beforeAll(async () => {
    serveIssued(at);
    found.id = (await register(portico, name, { accounts: 'per_principal' })).id;
  });
  // A stopped clock would stay stopped for the next file too.
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
