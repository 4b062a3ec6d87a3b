/** Failures of an upstream as tool results, so that a model can read them and continue. */
import type { PorticoError } from './portico-error.ts';

/** `_meta` key under which a failed call carries its stable reason. */
export const REASON_META_KEY = 'portico/reason';

/** Returns the raw JSON of a `CallToolResult` that describes a failure in one line. */
export function toToolResultText(error: PorticoError, serverName: string): string {
  const { retryAfterSeconds } = error.extras;
  const again = retryAfterSeconds === undefined ? '' : ` Retry after ${retryAfterSeconds} s.`;
  return JSON.stringify({
    content: [{ type: 'text', text: `${serverName}: ${error.message} (${error.code}).${again}` }],
    isError: true,
    _meta: {
      [REASON_META_KEY]: error.code,
      ...(retryAfterSeconds === undefined ? {} : { 'portico/retryAfter': retryAfterSeconds }),
    },
  });
}
