/**
 * `POST /device_authorization` (RFC 8628 §3.1): a program on a machine without a browser asks for a code to show. Only clients with
 * loopback redirects and without a document may. For a web client or one with a document, nothing is sent to its address here, so a
 * stranger could use its known name.
 */
import { answerForm, NO_STORE } from '../answer-form.ts';
import { AddressBuckets } from '../address-buckets.ts';
import { parseAudience } from '../audience.ts';
import { parseScopes } from '../authorization-request.ts';
import type { OAuthClient } from '../clients/client.ts';
import { areLoopback } from '../clients/redirects.ts';
import { createOpaque, toKept } from '../grants/grant.ts';
import { PATHS } from '../metadata.ts';
import { forClient, OAuthError } from '../oauth-error.ts';
import type { TokenPorts } from '../token-endpoint.ts';
import { DEVICE_MS, insertDevice, INTERVAL_MS } from './device-store.ts';
import { createUserCode, toKeptUserCode } from './user-code.ts';

/** Whether a client may use device codes. */
export const mayShowCodes = ({ kind, redirectUris }: OAuthClient): boolean =>
  kind !== 'document' && areLoopback(redirectUris);

type DevicePorts = Pick<TokenPorts, 'db' | 'keys' | 'clients' | 'refusals' | 'now'>;

export class DeviceAuthorizations {
  readonly #ports: DevicePorts;
  readonly #buckets = new AddressBuckets();

  constructor(ports: DevicePorts) {
    this.#ports = ports;
  }

  /** @param origin of the gateway */
  answer(request: Request, origin: string): Promise<Response> {
    const { clients, now } = this.#ports;
    return answerForm(request, this.#ports, async form => {
      if (!this.#buckets.take(request, now())) {
        throw new OAuthError('slow_down', 'Too many codes; try again later');
      }
      const client = await clients.authenticate(request.headers, form, origin);
      const answer = await forClient(client.id, () => this.#begin(client, form, origin));
      return Response.json(answer, { headers: NO_STORE });
    });
  }

  async #begin(client: OAuthClient, form: URLSearchParams, origin: string): Promise<object> {
    const { db, keys, now } = this.#ports;
    if (!mayShowCodes(client)) {
      throw new OAuthError(
        'unauthorized_client',
        'Only clients with loopback redirect URIs can use device codes',
      );
    }
    const wanted = {
      clientId: client.id,
      audience: parseAudience(form.getAll('resource'), origin),
      scopes: parseScopes(form.get('scope')),
    };
    const [code, userCode] = [createOpaque('device_code'), createUserCode()];
    const [[hmac = ''], [userHmac = '']] = await Promise.all([
      keys.hmacs('oauth', toKept('device_code', code)),
      keys.hmacs('oauth', toKeptUserCode(userCode)),
    ]);
    await db.batch(insertDevice(db, { hmac, userHmac }, wanted, now()));
    const page = origin + PATHS.device;
    return {
      device_code: code,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_MS / 1000,
      interval: INTERVAL_MS / 1000,
    };
  }
}
