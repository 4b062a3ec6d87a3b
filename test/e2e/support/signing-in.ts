/**
 * A gateway at which a person authorises programs: with one server behind it, a member at a browser, and a metadata document of the program
 * on loopback. Owns what it starts.
 */
import { serveClientDocument, type ClientDocument } from '../../fixtures/client-document.ts';
import { Person } from '../../fixtures/person.ts';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from './gateway.ts';

/** The redirect URI of programs without a listener; the port is ignored. */
export const REDIRECT = 'http://127.0.0.1:33418/callback';

export interface SignInGateway {
  gateway: Gateway;
  upstream: Upstream;
  person: Person;
  document: ClientDocument;
  /** Returns the ids of a program's grants, newest first. */
  grantsOf(clientId: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startSignInGateway(): Promise<SignInGateway> {
  const [upstream, gateway, document] = await Promise.all([
    startFixture('rich-modern'),
    startGateway({ env: QUIET }),
    serveClientDocument('A program', [REDIRECT]),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  const { token } = await gateway.createToken({ name: 'Ada' });
  return {
    gateway,
    upstream,
    person: new Person(token),
    document,
    grantsOf: async clientId => {
      const query = new URLSearchParams({ client: clientId });
      const { json } = await gateway.api('GET', `/api/v1/grants?${query}`);
      return (json['grants'] as { id: string }[]).map(({ id }) => id);
    },
    stop: async () => {
      document.close();
      await gateway.stop();
      await upstream.stop();
    },
  };
}

/** Revokes an access token early, as the program itself can (RFC 7009); its grant stays. */
export async function endAccessToken(
  { origin }: Gateway,
  clientId: string,
  token: string,
): Promise<void> {
  const body = new URLSearchParams({ token, client_id: clientId });
  const answer = await fetch(`${origin}/revoke`, { method: 'POST', body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
}
