/**
 * The key of a model: a text from the settings, or a secret of the registry that the text names as `${NAME}`. It is looked up at each use,
 * so that a new value applies at once, and a secret is only sent to an origin it is allowed for.
 */
import { openEnvelope } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { fillReferences, namesIn } from '../credentials/references.ts';
import { secretPlace } from '../credentials/secret-schema.ts';
import { findSecrets } from '../credentials/secret-store.ts';
import { ModelFailure } from './model-port.ts';

export interface ModelKeyPorts {
  db: D1Database;
  keys: KeyRing;
}

/**
 * Returns the key for a request.
 * @param text of the setting; undefined where it is not set
 * @param url where the key is sent
 * @throws ModelFailure `no_key` where a secret is missing, cannot be opened or may not be sent there
 */
export async function findModelKey(
  { db, keys }: ModelKeyPorts,
  text: string | undefined,
  url: string,
): Promise<string | undefined> {
  const names = text === undefined ? [] : namesIn(text);
  if (text === undefined || names?.length === 0) return text;
  const { origin } = new URL(url);
  const values = new Map<string, string>();
  for (const secret of await findSecrets(db, names ?? [])) {
    if (!secret.origins.includes(origin)) continue;
    const value = await openEnvelope(keys, secret.sealed, secretPlace(secret));
    if (value !== undefined) values.set(secret.name, value);
  }
  const filled = fillReferences(text, name => values.get(name));
  if (filled === undefined) throw new ModelFailure('no_key');
  return filled;
}
