/** The address in a configuration, as one that a token may be sent to. */
import { Failure } from '../failure.ts';
import { readGatewayUrl } from '../gateway-options.ts';

/** @returns undefined where it is no gateway's, or a token would go there in the clear */
export function safeGatewayOf(url: string | undefined): URL | undefined {
  try {
    return url === undefined ? undefined : readGatewayUrl({ url }, {});
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
