/**
 * `POST /register`: clients register themselves, without a credential, as most that have no document do. So a flood of them must cost
 * little and lock out nobody: an address may register so many a minute, and of those that were never used the oldest make room.
 */
import { refill, type Bucket, type Limit } from '../../audit/limits/token-bucket.ts';
import { BodyTooLarge, readText } from '../../http/read-text.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { Lru } from '../../shared/util/lru.ts';
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
const MAX_ADDRESSES = 1_000;
/** Of one address; and of all those together that the platform does not tell apart, as on one machine. */
const OF_ADDRESS: Limit = { perMinute: 30, burst: 30 };
const OF_UNKNOWN: Limit = { perMinute: 300, burst: 300 };
/** What one site has of IPv6 addresses. */
const IPV6_GROUPS = 4;

export class Registrations {
  readonly #ports: RegisterPorts;
  readonly #buckets = new Lru<string, Bucket>(MAX_ADDRESSES);

  constructor(ports: RegisterPorts) {
    this.#ports = ports;
  }

  /** Answer a request of any method. */
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
    this.#take(request.headers.get('cf-connecting-ip'));
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

  /** Count a registration of an address. @throws OAuthError `slow_down` */
  #take(address: string | null): void {
    const [key, limit] = address === null ? ['', OF_UNKNOWN] : [siteOf(address), OF_ADDRESS];
    const now = this.#ports.now();
    const { tokens, countedTo } = refill(this.#buckets.get(key), limit, now) ?? {
      tokens: limit.burst,
      countedTo: now,
    };
    if (tokens < 1) throw new OAuthError('slow_down', 'Too many registrations; try again later');
    this.#buckets.set(key, { tokens: tokens - 1, countedTo });
  }
}

const siteOf = (address: string): string =>
  address.includes(':') ? address.split(':').slice(0, IPV6_GROUPS).join(':') : address;

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
      : 'broke off, or is no UTF-8';
    throw new OAuthError('invalid_client_metadata', `The body ${problem}`);
  }
}
