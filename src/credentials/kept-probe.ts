/** Tests whether a key ring fits a database: whether it opens one of the sealed values stored there. */
import { openEnvelope } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { findSealed } from './rotation-store.ts';

/** Also true if nothing is sealed yet. Tries one record of each kind, so that a single damaged record does not decide. */
export async function opensKept(db: D1Database, keys: KeyRing): Promise<boolean> {
  const records = await findSealed(db);
  const opened = await Promise.all(
    records.map(({ sealed, place }) => openEnvelope(keys, sealed, place)),
  );
  return opened.length === 0 || opened.some(plain => plain !== undefined);
}
