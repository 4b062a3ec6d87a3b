/** Stores an account's list differences in its row of `accounts`. */
import type { HeldAccount, OwnLists } from '../../shared/identity/account.ts';

/** Stores what was read, if the account still has the same credential. @returns whether it had */
export async function keepOwnLists(
  db: D1Database,
  { id, revision }: Pick<HeldAccount, 'id' | 'revision'>,
  { lists, catalogHash, now }: { lists: OwnLists | null; catalogHash: string; now: number },
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      'UPDATE accounts SET own_lists = ?, own_lists_of = ?, own_lists_at = ? WHERE id = ? AND revision = ?',
    )
    .bind(lists && JSON.stringify(lists), catalogHash, now, id, revision)
    .run();
  return meta.changes > 0;
}
