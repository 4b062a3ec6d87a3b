/** Signs in with a browser on another machine: shows a code to type there, and polls until somebody allowed it (RFC 8628). */
import { setTimeout as pause } from 'node:timers/promises';
import * as oauth from 'oauth4webapi';
import { Failure } from '../failure.ts';
import { visible } from '../output/table.ts';
import { note, noteProgress } from '../terminal.ts';
import {
  askedOf,
  during,
  isTrouble,
  optionsFor,
  toLogin,
  type AuthorizationServer,
} from './authorization-server.ts';
import type { Login } from './login-store.ts';

/** Default polling interval, in seconds. */
const INTERVAL_S = 5;
/** Seconds that `slow_down` adds to the interval (RFC 8628 §3.5). */
const SLOWER_S = 5;
/** Longest interval between two polls of a failing gateway, in seconds. */
const MAX_INTERVAL_S = 60;

/** @param signal aborts the login; its reason is thrown @throws Failure */
export async function loginByDevice(
  server: AuthorizationServer,
  clientId: string,
  signal: AbortSignal,
): Promise<Login> {
  const { origin, as } = server;
  if (as.device_authorization_endpoint === undefined) {
    throw new Failure(`${origin} does not support codes; sign in with a browser on this machine`);
  }
  const client = { client_id: clientId };
  const shown = await during(origin, async () => {
    const answer = await oauth.deviceAuthorizationRequest(
      as,
      client,
      oauth.None(),
      askedOf(server),
      optionsFor(origin, signal),
    );
    return oauth.processDeviceAuthorizationResponse(as, client, answer);
  });
  showCode(shown);
  const given = await during(origin, () => poll(server, client, shown, signal));
  return toLogin(server, clientId, given);
}

function showCode(shown: oauth.DeviceAuthorizationResponse): void {
  note('Open this page in a browser, on any machine:');
  note(`\n    ${visible(shown.verification_uri)}\n`);
  note('and type this code there:');
  note(`\n    ${[...visible(shown.user_code)].join(' ')}\n`);
  if (shown.verification_uri_complete !== undefined) {
    note(`Or open ${visible(shown.verification_uri_complete)}, which contains the code.`);
  }
}

async function poll(
  { origin, as }: AuthorizationServer,
  client: oauth.Client,
  {
    device_code: code,
    expires_in: life,
    interval: asked = INTERVAL_S,
  }: oauth.DeviceAuthorizationResponse,
  signal: AbortSignal,
): Promise<oauth.TokenEndpointResponse> {
  const until = Date.now() + life * 1000;
  let seconds = asked;
  try {
    while (Date.now() < until) {
      const left = Math.ceil((until - Date.now()) / 60_000);
      noteProgress(`Waiting; the code is valid for ${left} more min. Ctrl-C stops.`);
      await pause(seconds * 1000, undefined, { signal });
      try {
        const options = optionsFor(origin, signal);
        const answer = await oauth.deviceCodeGrantRequest(as, client, oauth.None(), code, options);
        return await oauth.processDeviceCodeResponse(as, client, answer);
      } catch (error) {
        signal.throwIfAborted();
        seconds = nextInterval(error, seconds);
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    noteProgress('');
  }
  throw expired();
}

/** Returns the interval to the next poll, in seconds. @throws the error where it is permanent */
export function nextInterval(error: unknown, seconds: number): number {
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'authorization_pending') return seconds;
    if (error.error === 'slow_down') return seconds + SLOWER_S;
    if (error.error === 'expired_token') throw expired();
  }
  // The network or the gateway fails: poll less and less often.
  const mayPass = isTrouble(error) || error instanceof TypeError || error instanceof DOMException;
  if (!mayPass) throw error;
  return Math.min(seconds * 2, MAX_INTERVAL_S);
}

const expired = () => new Failure('the code has expired; run portico login again');
