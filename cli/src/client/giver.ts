/** Where the token for a host comes from, and what becomes of the one that it had. */
import { EXIT, Failure } from '../failure.ts';
import { readTarget, readToken } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import type { ApiOptions } from '../gateway/api-command.ts';
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

/** What stands in a file that others read, in place of a token: each of them sets it. */
export const SHARED_TOKEN = '${PORTICO_CLIENT_TOKEN}';

/** A login has tokens of an hour; what stands in a file is not renewed. */
const NO_LASTING =
  'a login cannot be given to a client; let the client sign in by itself, or name a token of yours';

export interface Giver {
  /** Whether the host has a token that works and is no more than a member's. */
  isGood: boolean;
  /** The token it has, where that was made for it and is to be revoked when it has another. */
  former: Pick<MadeToken, 'id' | 'name'> | undefined;
  give(): Promise<{ value: string; made?: MadeToken }>;
  /** Revokes a token that no file has; where that fails, it says so. */
  drop(token: Pick<MadeToken, 'id' | 'name'>): Promise<void>;
}

/** @throws Failure where who asks can give no token */
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
    throw new Failure('--principal is for who may make tokens', EXIT.denied);
  }
  const { id } = place.host;
  const former = own && (await findMade(api, id, own));
  return {
    isGood,
    former,
    async give() {
      const made = await makeToken(api, id, options.principal ?? former?.principal);
      return { value: made.value, made };
    },
    async drop(token) {
      try {
        await revoke(api, token.id);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        note(`the token '${token.name}' (${token.id}) is not revoked: ${error.message}`);
      }
    },
  };
}

/** Of a token that is there. */
const giving = (value: string, isGood: boolean): Giver => ({
  isGood,
  former: undefined,
  give: async () => ({ value }),
  drop: async () => {},
});

/** Whether the server that a host has is this gateway, so that its token may be shown to it. */
const isOf = ({ found }: Place, { origin }: URL): boolean =>
  URL.parse(found?.url ?? '')?.origin === origin;
