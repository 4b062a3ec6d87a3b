/** Keys that were removed from the ring while values are still sealed with them. Pure. */

/** The records under a key, as in `GET /api/v1/keys`. */
export interface KeyUse {
  id: string;
  in_ring: boolean;
  secrets: number;
  servers: number;
  access_tokens: number;
  accounts: number;
  tokens: number;
}

/** Returns one line for each lost key: what is sealed with it cannot be opened. */
export function lostKeys(keys: readonly KeyUse[]): string[] {
  return keys.flatMap(
    ({ id, in_ring: isThere, secrets, servers, access_tokens, accounts, tokens }) => {
      const lost = [
        [secrets, 'secrets'],
        [servers, 'servers'],
        [access_tokens, 'access tokens'],
        [accounts, 'accounts'],
        [tokens, 'client tokens'],
      ] as const;
      const some = lost.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
      if (isThere || some.length === 0) return [];
      return [`key ${id} is not in the ring, and ${some.join(', ')} under it cannot be opened`];
    },
  );
}

/** Advice that ends such a message. */
export const PUT_BACK =
  'put it back into the ring, restart the gateway, then run portico keys rotate';
