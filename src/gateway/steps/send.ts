/** How a request is sent to its server. Every call to a server, whoever makes it, passes the steps around this. */
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallReply } from '../../upstream/protocol/call.ts';
import type { OutboundRequest } from '../../upstream/protocol/wire-request.ts';

/**
 * Sends a request to a server.
 * @param name the server's own name of the item, for the mirrored header
 */
export type Send = (
  server: Server,
  request: OutboundRequest,
  name: string | undefined,
  context: CallContext,
) => Promise<CallReply>;

/** Adds work around `next`. */
export type SendStep = (next: Send) => Send;
