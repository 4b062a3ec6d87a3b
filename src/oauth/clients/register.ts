/**
 * `POST /register`: clients register themselves without a credential, as most clients without a document do. So a flood of registrations
 * must cost little and lock out nobody: the rate per address is limited, and the oldest clients that were never used make room for new
 * ones.
 */
import { BodyTooLarge, readText } from '../../http/read-text.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { AddressBuckets } from '../address-buckets.ts';
import { OAuthError, toOAuthErrorResponse } from '../oauth-error.ts';
import { createClientId, createClientSecret } from './client-secret.ts';
import { insertClient, sweepClients } from './client-store.ts';
import { parseRegistration, SECRET_METHODS, toRegistrationAnswer } from './registration.ts';

export interface RegisterPorts {
  db: D1Database;
  keys: KeyRing;
  now(): number;
}

const MAX_BODY_BYTES = 16_384;

export class Registrations {
  readonly #ports: RegisterPorts;
  readonly #buckets = new AddressBuckets();

  constructor(ports: RegisterPorts) {
    this.#ports = ports;
  }

  /** Responds to a request of any method. */
  async answer(request: Request): Promise<Response> {
    try {
      return await this.#register(request);
    } catch (error) {
      return toOAuthErrorResponse(
        error instanceof OAuthError
          ? error
          : new OAuthError('temporarily_unavailable', 'The client could not be stored'),
      );
    }
  }

  async #register(request: Request): Promise<Response> {
    if (request.method !== 'POST') {
      const headers = { allow: 'POST', 'cache-control': 'no-store' };
      return Response.json({ error: 'invalid_request' }, { status: 405, headers });
    }
    const { db, keys, now } = this.#ports;
    if (!this.#buckets.take(request, now())) {
      throw new OAuthError('slow_down', 'Too many registrations; try again later');
    }
    const registration = parseRegistration(await readBody(request));
    const at = now();
    const id = createClientId();
    const { name, redirectUris, authMethods, jwksUri, jwks, method } = registration;
    const secret = SECRET_METHODS.includes(method) ? await createClientSecret(keys) : undefined;
    const client = {
      id,
      kind: 'registered',
      name,
      redirectUris,
      authMethods,
      jwksUri,
      jwks,
      secretHmac: secret?.secretHmac ?? null,
      keyId: secret?.keyId ?? null,
      createdAt: at,
      freshUntil: null,
    } as const;
    await db.batch([insertClient(db, client, null), ...sweepClients(db, at)]);
    return Response.json(toRegistrationAnswer(id, registration, at, secret?.value), {
      status: 201,
      headers: { 'cache-control': 'no-store' },
    });
  }
}

/** @throws OAuthError `invalid_client_metadata` */
async function readBody(request: Request): Promise<string> {
  const type = request.headers.get('content-type') ?? '';
  if (!/\bjson\b/i.test(type.slice(0, 200))) {
    throw new OAuthError('invalid_client_metadata', 'Send JSON, as application/json');
  }
  try {
    return await readText(request, request.headers, MAX_BODY_BYTES, undefined, true);
  } catch (error) {
    const isTooLarge = error instanceof BodyTooLarge;
    const problem = isTooLarge
      ? `has ${MAX_BODY_BYTES} bytes at most`
      : 'broke off, is compressed, or is not UTF-8';
    throw new OAuthError('invalid_client_metadata', `The body ${problem}`);
  }
}
