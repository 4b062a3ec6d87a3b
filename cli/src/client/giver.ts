/** Where the token for a host comes from, and what happens to its former token. */
import { EXIT, Failure } from '../failure.ts';
import { readTarget, readToken } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import type { ApiOptions } from '../gateway/api-command.ts';
import { findPrincipalId } from '../resources/act.ts';
import { note } from '../terminal.ts';
import {
  checkAsker,
  findMade,
  isAdmin,
  isMember,
  makeToken,
  readOwnToken,
  revoke,
  type MadeToken,
} from './client-token.ts';
import type { Place } from './place.ts';

/** Placeholder for the token in a file that others read: each of them sets the variable. */
export const SHARED_TOKEN = '${PORTICO_CLIENT_TOKEN}';

/** A login's tokens last an hour, and nothing renews a token in a file. */
const NO_LASTING =
  'a login cannot be given to a client; let the client sign in itself, or give a token';

export interface Giver {
  /** Whether the host has a working token with no more than a member's scopes. */
  isGood: boolean;
  /** The host's current token if it was made for the host; revoke it once the host has another. */
  former: Pick<MadeToken, 'id' | 'name'> | undefined;
  give(): Promise<{ value: string; made?: MadeToken }>;
  /** Revokes a token that is in no file; reports a failure instead of throwing. */
  drop(token: Pick<MadeToken, 'id' | 'name'>): Promise<void>;
}

/** @throws Failure where the caller can give no token */
export async function findGiver(
  place: Place,
  options: ApiOptions & { principal?: string },
): Promise<Giver> {
  if (place.isShared) return giving(SHARED_TOKEN, true);
  const { url, token: source } = readTarget(options);
  const api = new Api(url, source);
  const asker = await readOwnToken(api);
  checkAsker(asker, url.origin);
  const has = isOf(place, url) ? place.found?.token : undefined;
  const own = has === undefined ? undefined : await readOwnToken(new Api(url, has));
  const isGood = own !== undefined && isMember(own);
  if (!isAdmin(asker)) {
    const given = readToken(options, process.env);
    if (options.principal === undefined && given !== undefined) return giving(given, isGood);
    if (options.principal === undefined) throw new Failure(NO_LASTING, EXIT.usage);
    throw new Failure('--principal needs an admin token', EXIT.denied);
  }
  const { id } = place.host;
  const former = own && (await findMade(api, id, own));
  const { principal } = options;
  const owner = principal === undefined ? undefined : await findPrincipalId(api, principal);
  return {
    isGood: isGood && (owner === undefined || own.principal === owner),
    former,
    async give() {
      const made = await makeToken(api, id, owner ?? former?.principal);
      return { value: made.value, made };
    },
    async drop(token) {
      try {
        await revoke(api, token.id);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        note(`the token '${token.name}' (${token.id}) was not revoked: ${error.message}`);
      }
    },
  };
}

/** A giver of an existing token. */
const giving = (value: string, isGood: boolean): Giver => ({
  isGood,
  former: undefined,
  give: async () => ({ value }),
  drop: async () => {},
});

/** Whether the host's entry points to this gateway, so that its token may be sent there. */
const isOf = ({ found }: Place, { origin }: URL): boolean =>
  URL.parse(found?.url ?? '')?.origin === origin;
