/** How a request leaves for its server. What every call to a server goes through, whoever makes it, is a step around this. */
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallReply } from '../../upstream/protocol/call.ts';
import type { OutboundRequest } from '../../upstream/protocol/wire-request.ts';

/**
 * Puts a request to a server.
 * @param name the server's own name of what is asked for, for the mirrored header
 */
export type Send = (
  server: Server,
  request: OutboundRequest,
  name: string | undefined,
  context: CallContext,
) => Promise<CallReply>;

/** Something done around `next`. */
export type SendStep = (next: Send) => Send;
