/** Checks that a token may be sent to the URL of a configuration. */
import { Failure } from '../failure.ts';
import { readGatewayUrl } from '../gateway-options.ts';

/** @returns undefined where it is not a gateway's URL, or the token would travel unencrypted */
export function safeGatewayOf(url: string | undefined): URL | undefined {
  try {
    return url === undefined ? undefined : readGatewayUrl({ url }, {});
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
