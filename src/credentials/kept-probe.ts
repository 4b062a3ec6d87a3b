/** Whether a key ring fits a database: it opens one of the secrets that are kept there. */
import { openEnvelope } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { findSealed } from './rotation-store.ts';

/** True also where nothing is kept yet. Looks at one record of each kind, so that a damaged one alone says nothing. */
export async function opensKept(db: D1Database, keys: KeyRing): Promise<boolean> {
  const records = await findSealed(db);
  const opened = await Promise.all(
    records.map(({ sealed, place }) => openEnvelope(keys, sealed, place)),
  );
  return opened.length === 0 || opened.some(plain => plain !== undefined);
}
