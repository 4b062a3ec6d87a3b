/** Changes of a credential by an administrator: validates a change, and computes the credential that the registry stores. */
import { refuseFields } from '../shared/errors/field-problems.ts';
import type { FieldProblem } from '../shared/errors/portico-error.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { namesIn } from './references.ts';
import { sealCredential, type Owner } from './sealed-credential.ts';
import { findSecrets } from './secret-store.ts';
import type { Secret } from './secret-schema.ts';
import { decideAddress } from '../http/address-policy.ts';
import {
  NO_CREDENTIAL,
  usesOf,
  viewOf,
  type Credential,
  type GivenCredential,
  type Use,
} from './credential-schema.ts';

const MAX_SECRETS_OF_SERVER = 20;

/**
 * Returns the credential after a change: an absent part of `given` stays as in `before`, null clears it. `before` has to be for the origin
 * of `owner`.
 */
export async function applyCredential(
  keys: KeyRing,
  owner: Owner,
  before: Credential,
  given: GivenCredential,
): Promise<Credential> {
  const { headers, auth } = given;
  const isChanged = headers !== undefined || auth !== undefined;
  if (!isChanged) return before;
  return {
    headersSealed:
      headers === undefined
        ? before.headersSealed
        : headers && (await sealCredential(keys, owner, 'headers', headers)),
    authSealed:
      auth === undefined
        ? before.authSealed
        : auth && (await sealCredential(keys, owner, 'auth', auth)),
    view: viewOf(before.view, given),
    revision: before.revision + 1,
    secrets: [],
    accessToken: null,
  };
}

/** The empty credential that replaces one given for another origin. */
export function dropped({ revision }: Credential): Credential {
  return { ...NO_CREDENTIAL, revision: revision + 1 };
}

/**
 * Validates a change before it is made.
 * @throws PorticoError `validation_failed` with every invalid field
 */
export async function checkCredential(
  { db, allowsLoopback }: { db: D1Database; allowsLoopback: boolean },
  owner: Owner,
  before: Credential,
  given: GivenCredential,
): Promise<void> {
  const fields = checkTokenUrl(given, allowsLoopback);
  const uses = fields.length === 0 ? usesOf(owner.url, given) : [];
  const { headers, auth, secrets } = viewOf(before.view, given);
  const names = [...new Set([...secrets.headers, ...secrets.auth])];
  const known = names.length === 0 ? [] : await findSecrets(db, names);
  fields.push(...uses.flatMap(use => problemsOf(use, known)));
  if (names.length > MAX_SECRETS_OF_SERVER) {
    const message = `at most ${MAX_SECRETS_OF_SERVER} secrets`;
    fields.push({ field: 'connection_config', message });
  }
  if (auth && Object.keys(headers).some(name => name.toLowerCase() === 'authorization')) {
    const message = 'the headers already contain Authorization';
    fields.push({ field: 'connection_config.auth', message });
  }
  refuseFields(fields);
}

function checkTokenUrl({ auth }: GivenCredential, allowsLoopback: boolean): FieldProblem[] {
  if (auth?.type !== 'client_credentials' || auth.token_url === undefined) return [];
  const decision = decideAddress(auth.token_url, allowsLoopback);
  const field = 'connection_config.auth.token_url';
  return decision.allowed ? [] : [{ field, message: decision.reason }];
}

function problemsOf({ field, text, origin }: Use, known: readonly Secret[]): FieldProblem[] {
  const names = namesIn(text);
  if (!names) {
    const message = 'a reference is ${NAME}, in capitals; write $${ for the characters themselves';
    return [{ field, message }];
  }
  return names.flatMap(name => {
    const secret = known.find(other => other.name === name);
    // A secret that does not exist yet may be created later: until then the server cannot be reached, and its error says why.
    if (!secret || origin === undefined || secret.origins.includes(origin)) return [];
    return [{ field, message: `the secret ${name} may not be sent to ${origin}` }];
  });
}
