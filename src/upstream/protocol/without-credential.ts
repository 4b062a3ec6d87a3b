/**
 * Wraps a fetch so that answers do not repeat the credential that was sent (SEC-2): wherever it occurs in a body, result, error,
 * notification or log message, it is replaced before anybody reads it. Every other byte stays as it came, and nothing is held back but the
 * beginning of what may be the credential.
 */
import { ByteReplacer, joined, type Needle } from '../../shared/redaction/byte-replacer.ts';

/** Sends one request; a redirect is never followed. Rejects as `fetch` does, or with a PorticoError that says more. */
export type OutboundFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Returns the fetch for a server of a connector. @param server its name there */
export type ConnectorFetch = (connectorId: string, server: string) => OutboundFetch;

/** @param needles see `credential-forms.ts`; without any, the fetch is returned unchanged */
export function withoutCredential(
  outboundFetch: OutboundFetch,
  needles: readonly Needle[],
): OutboundFetch {
  if (needles.length === 0) return outboundFetch;
  return async (url, init) => {
    const response = await outboundFetch(url, init);
    if (response.body === null) return response;
    const { status, headers } = response;
    return new Response(replaced(response.body, needles), { status, headers });
  };
}

function replaced(
  body: ReadableStream<Uint8Array>,
  needles: readonly Needle[],
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const replacer = new ByteReplacer(needles);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          const pieces = done ? replacer.end() : replacer.push(value);
          if (pieces.length > 0) controller.enqueue(joined(pieces));
          if (done) return controller.close();
          if (pieces.length > 0) return;
        }
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
