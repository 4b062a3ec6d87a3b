/** A request that was routed and failed on the way: which server it was, and why. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { CallMessages, CallReply } from '../upstream/protocol/call.ts';

export class ServerFailure extends Error {
  readonly server: Server;
  readonly reason: PorticoError;

  constructor(server: Server, reason: PorticoError) {
    super(reason.message);
    this.name = 'ServerFailure';
    this.server = server;
    this.reason = reason;
  }
}

/** Who lacks an account of their own is told where to connect one. @param origin of the gateway, as the caller asks it */
export function withConnectUrl(
  { name }: Server,
  thrown: unknown,
  origin: string | undefined,
): unknown {
  if (!(thrown instanceof PorticoError) || thrown.code !== 'account_required') return thrown;
  if (origin === undefined) return thrown;
  const url = `${origin}/connect/${encodeURIComponent(name)}`;
  const detail = `${thrown.message}. Connect it at ${url} and try again`;
  return new PorticoError('account_required', detail, { data: { connect_url: url } });
}

/** A thrown value with the server at fault, where a server is. */
export function toServerFailure(server: Server, thrown: unknown): unknown {
  return thrown instanceof PorticoError && thrown.entry.toolResult
    ? new ServerFailure(server, thrown)
    : thrown;
}

/** A reply whose messages, where they break off, tell which server it was. */
export function failingAs(server: Server, reply: CallReply): CallReply {
  return 'response' in reply ? reply : { messages: naming(server, reply.messages) };
}

async function* naming(server: Server, messages: CallMessages): CallMessages {
  try {
    yield* messages;
  } catch (thrown) {
    throw toServerFailure(server, thrown);
  }
}
