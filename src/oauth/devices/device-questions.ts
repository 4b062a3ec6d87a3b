/**
 * The work behind the page `/device`: a signed-in person types the code that a program shows and is asked once whether to allow it; the
 * program gets its tokens with its next poll. The consent is not remembered. Codes are short, so tries per person are limited.
 */
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { SignedIn } from '../../sign-in/signed-in.ts';
import type { OAuthClient, OAuthClients } from '../clients/client.ts';
import { insertRequest, takeRequest } from '../consent-store.ts';
import { makeGrant, within, type MakeGrantPorts } from '../grants/make-grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { mayShowCodes } from './device-endpoint.ts';
import {
  countTry,
  DeviceRequestSchema,
  endDevice,
  findWaiting,
  refuseDevice,
  whenWaiting,
  type DeviceRequest,
} from './device-store.ts';
import { parseUserCode, toKeptUserCode } from './user-code.ts';

export interface DeviceQuestionPorts extends MakeGrantPorts {
  keys: KeyRing;
  clients: OAuthClients;
}

/** A waiting program that a person is asked about, with the handle that identifies the question in the person's reply. */
export interface DeviceQuestion {
  handle: string;
  userCode: string;
  client: OAuthClient;
  request: DeviceRequest;
}

const QuestionSchema = DeviceRequestSchema.extend({ hmac: DeviceRequestSchema.shape.clientId });
const MAX_HANDLE_CHARS = 100;
/** The prefix keeps these handles apart from those of `/authorize`. */
const toKeptHandle = (handle: string) => `device_request:${handle.slice(0, MAX_HANDLE_CHARS)}`;

const NO_SUCH =
  'No program waits with this code. Codes last ten minutes; see whether it shows another one';
const TOO_OLD = 'This page is too old; type the code again';
const GONE = 'The program no longer waits, or you are no longer signed in';

export class DeviceQuestions {
  readonly #ports: DeviceQuestionPorts;

  constructor(ports: DeviceQuestionPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the question about the program that shows a code.
   * @param text what the person typed
   * @throws OAuthError that is shown to the person: `slow_down` after too many codes, `invalid_grant` if nothing waits for the code
   */
  async ask(text: string, signedIn: SignedIn): Promise<DeviceQuestion> {
    const { db, keys, clients, now } = this.#ports;
    if (!(await countTry(db, signedIn.principalId, now()))) {
      throw new OAuthError('slow_down', 'Too many codes; wait ten minutes');
    }
    const userCode = parseUserCode(text);
    if (userCode === undefined) throw new OAuthError('invalid_grant', NO_SUCH);
    const device = await findWaiting(
      db,
      await keys.hmacs('oauth', toKeptUserCode(userCode)),
      now(),
    );
    const client = device && (await clients.find(device.clientId));
    if (!client || !mayShowCodes(client)) throw new OAuthError('invalid_grant', NO_SUCH);
    const scopes = within(device.scopes, signedIn);
    if (scopes.length === 0) {
      throw new OAuthError(
        'access_denied',
        'You may not grant any of the scopes that this program asks for',
      );
    }
    const { hmac, clientId, audience } = device;
    const request = { clientId, audience, scopes };
    const handle = toBase64Url(randomBytes(32));
    const [kept = ''] = await keys.hmacs('oauth', toKeptHandle(handle));
    await db.batch(insertRequest(db, kept, signedIn.id, { ...request, hmac }, now()));
    return { handle, userCode, client, request };
  }

  /**
   * Applies the decision about a question; each decision counts once.
   * @returns the client
   * @throws OAuthError if the question is not this person's, was decided already or is too old, or the program waits no longer
   */
  async decide(handle: string, isAllowed: boolean, signedIn: SignedIn): Promise<OAuthClient> {
    const { db, keys, clients, now } = this.#ports;
    const hmacs = await keys.hmacs('oauth', toKeptHandle(handle));
    const question = await takeRequest(db, hmacs, signedIn.id, now(), QuestionSchema);
    if (!question) throw new OAuthError('invalid_request', TOO_OLD);
    const { hmac, ...request } = question;
    const client = await clients.find(request.clientId);
    if (!client || !mayShowCodes(client)) throw new OAuthError('invalid_grant', GONE);
    if (!isAllowed) {
      await refuseDevice(db, hmac).run();
      return client;
    }
    const scopes = within(request.scopes, signedIn);
    if (scopes.length === 0) throw new OAuthError('access_denied', GONE);
    await makeGrant(this.#ports, signedIn, {
      name: client.name,
      granted: { ...request, scopes, challenge: null, redirectUri: null },
      codeHmac: hmac,
      alsoWhen: whenWaiting(hmac, now()),
      refusal: GONE,
      detail: { by: 'device code' },
      andThen: id => [endDevice(db, hmac, id)],
    });
    return client;
  }
}
