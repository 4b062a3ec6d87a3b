/**
 * The address that signs the administrator of this machine in to the console, since the admin token is nobody's and signs nobody in: a
 * new one at each start on a terminal, good once and for an hour. Its principal is made once for a data folder and is like any other.
 */
import type { Api } from './api.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'administrator';
const VALID_SECONDS = 3_600;
const CONSOLE = '/console';

/**
 * @param origin of the gateway
 * @returns undefined where the principal was removed, or the gateway makes none; the console asks for a token then
 */
export async function provideSignInLink(
  origin: string,
  secrets: Pick<Secrets, 'administratorId' | 'keepAdministrator'>,
  api: Pick<Api, 'createPrincipal' | 'invite'>,
): Promise<string | undefined> {
  try {
    let id = secrets.administratorId;
    if (id === undefined) {
      id = await api.createPrincipal({ name: NAME, scopes: ['admin'] });
      await secrets.keepAdministrator(id);
    }
    const code = await api.invite({ principal: id, valid_seconds: VALID_SECONDS });
    return `${origin}/sign-in?return=${CONSOLE}#${code}`;
  } catch {
    return undefined;
  }
}
