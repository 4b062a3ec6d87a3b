/** Clients of the authorization server: with a document, self-registered, or created by an administrator. */
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { AssertionCheck } from './assertion-check.ts';
import { ClientAuthentication } from './authenticate.ts';
import type { OAuthClients } from './client.ts';
import { isDocumentId } from './client-document.ts';
import { findClient, touchClient, type StoredClient } from './client-store.ts';
import { DocumentClients } from './document-clients.ts';
import { DocumentReader } from './document-reader.ts';
import { Registrations } from './register.ts';

export interface OAuthClientsDeps {
  db: D1Database;
  keys: KeyRing;
  config: { allowsLoopback: boolean };
  now(): number;
}

const MAX_ID_CHARS = 2_000;

export interface OAuthClientParts extends OAuthClients {
  /** `POST /register` (RFC 7591). */
  register(request: Request): Promise<Response>;
}

export function createOAuthClients({ db, keys, config, now }: OAuthClientsDeps): OAuthClientParts {
  const reader = new DocumentReader(config.allowsLoopback, now);
  // Anybody can invent clients with slow documents and keys; those must not hold up what clients in use need.
  const readerInUse = new DocumentReader(config.allowsLoopback, now);
  const documents = new DocumentClients({ db, reader, readerInUse, now });
  const registrations = new Registrations({ db, keys, now });
  // Nor must documents, which anybody can name, hold up the keys of clients that registered and sign for the first time.
  const keyReader = new DocumentReader(config.allowsLoopback, now);
  const assertions = new AssertionCheck({ db, reader: keyReader, readerInUse, now });

  async function find(id: string): Promise<StoredClient | undefined> {
    if (isDocumentId(id)) return documents.find(id);
    return id.length > MAX_ID_CHARS ? undefined : findClient(db, id);
  }
  const authentication = new ClientAuthentication({ db, keys, assertions, find });

  return {
    find,
    authenticate: (headers, form, issuer) => authentication.of(headers, form, issuer),
    register: request => registrations.answer(request),
    async touch({ id, kind }, at) {
      if (kind === 'document') await documents.touch(id, at);
      else await touchClient(db, id, at).run();
    },
  };
}
