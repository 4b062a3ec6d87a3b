/**
 * The error that sends a person to a page: only for clients of 2025-11-25 that declared that they open links, since others show its code
 * but not its link. In the modern era the client is asked instead (`gateway/steps/ask-for-account.ts`).
 * Source: MCP 2025-11-25, Elicitation, URL Elicitation Required Error.
 */
import { connectText, linkOf } from '../../gateway/server-failure.ts';
import { opensLinks } from '../../shared/client-capabilities.ts';
import type { PorticoError } from '../../shared/errors/portico-error.ts';
import { idText, LATEST_LEGACY_VERSION, RPC, type RequestId } from '../../shared/protocol.ts';
import type { RequestContext } from '../request-context.ts';

/** What decides whether a client can be shown a link. */
export interface LinkClient {
  context: Pick<RequestContext['context'], 'capabilities'>;
  /** Revision of the client's legacy session. */
  version?: string | undefined;
}

/** Returns the JSON text of the error; undefined where there is no link, or the client does not accept this error. */
export function linkRequiredText(
  error: PorticoError,
  id: RequestId,
  server: string,
  client: LinkClient | undefined,
): string | undefined {
  const url = linkOf(error);
  if (url === undefined || client?.version !== LATEST_LEGACY_VERSION) return undefined;
  if (!opensLinks(client.context.capabilities)) return undefined;
  const elicitationId = crypto.randomUUID();
  const elicitation = { mode: 'url', elicitationId, url, message: connectText({ name: server }) };
  const rpcError = {
    code: RPC.urlElicitationRequired,
    message: `${server}: ${error.message}`,
    data: { elicitations: [elicitation] },
  };
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(rpcError)}}`;
}
