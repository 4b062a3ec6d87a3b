/**
 * The token that the snippets of a start carry: it lists and calls tools and administers nothing, since what is pasted into clients is
 * read by them. It is made once for a data folder, like any other token, and may be revoked like any other.
 */
import type { Api } from './api.ts';
import type { Secrets } from './secrets.ts';

const NAME = 'first-member';
const SCOPES = ['tools:read', 'tools:call'];

/**
 * The token of the folder, which is used once here so that it moves to a new key of the ring; or a new one.
 * @returns undefined where it was revoked, or the gateway does not make one; the snippets have a place for a token then
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
