/**
 * The token in the snippets of a start. It can list and call tools but administer nothing, since clients can read what is pasted into them.
 * It is created once for a data folder, and can be revoked like any other token.
 */
import type { Api } from './api.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'first-member';
const SCOPES = ['tools:read', 'tools:call'];

/**
 * Returns the token of the folder, or a new one. The existing token is used once here, so that it moves to a new active key.
 * @returns undefined if it was revoked, or the gateway creates none; then the snippets contain a placeholder
 */
export async function provideMemberToken(
  secrets: Pick<Secrets, 'memberToken' | 'keepMemberToken'>,
  api: Pick<Api, 'createToken' | 'isTokenKnown'>,
): Promise<string | undefined> {
  const { memberToken } = secrets;
  if (memberToken !== undefined) {
    return (await api.isTokenKnown(memberToken)) ? memberToken : undefined;
  }
  try {
    const token = await api.createToken({ name: NAME, scopes: SCOPES });
    await secrets.keepMemberToken(token);
    return token;
  } catch {
    return undefined;
  }
}
