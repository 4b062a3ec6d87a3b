/** Keys that were taken out of the ring while something is under them. Pure. */

/** What is under a key, as `GET /api/v1/keys` has it. */
export interface KeyUse {
  id: string;
  in_ring: boolean;
  secrets: number;
  servers: number;
  access_tokens: number;
  accounts: number;
  tokens: number;
}

/** One line for each such key: what is under it cannot be opened. */
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

/** What helps. */
export const PUT_BACK =
  'put it back into the ring, start the gateway anew, then portico keys rotate';
