/** What the lists of an account lack, in its row of `accounts`. */
import type { HeldAccount, OwnLists } from '../../shared/identity/account.ts';

/** Keep what was read, where the account has the same credential still. @returns whether it has */
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
