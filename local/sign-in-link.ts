/**
 * The link that signs the administrator of this machine in to the console. It is needed because the admin token belongs to no principal and
 * signs nobody in. Each start on a terminal creates a new link, valid once and for an hour. Its principal is created once for a data folder
 * and is like any other.
 */
import type { Api } from './api.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'administrator';
const VALID_SECONDS = 3_600;
const CONSOLE = '/console';

/**
 * @param origin of the gateway
 * @returns undefined if the principal was removed, or the gateway creates none; then the console asks for a token
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
