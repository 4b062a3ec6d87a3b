/** A request that was routed to a server and failed: which server it was, and why. */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { SETUP_TOKEN } from '../shared/identity/principal.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { CallMessages } from '../upstream/protocol/call.ts';

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

/** Returns the error code of a thrown value. */
export const failureCode = (thrown: unknown): ErrorCode =>
  thrown instanceof ServerFailure ? thrown.reason.code : toPorticoError(thrown).code;

/** The caller, and the origin under which it reaches the gateway; undefined if the caller must not be sent there. */
export interface LinkCaller {
  principalId: string;
  origin: string | undefined;
}

/** Adds the link under which the caller can connect an account, if it lacks one. */
export function withConnectUrl({ name }: Server, thrown: unknown, caller: LinkCaller): unknown {
  if (!(thrown instanceof PorticoError) || thrown.code !== 'account_required') return thrown;
  const { principalId, origin } = caller;
  if (principalId === SETUP_TOKEN.principalId) {
    const detail = `${thrown.message}; the token of the deployment has no account, use the token of a principal`;
    return new PorticoError('account_required', detail);
  }
  if (origin === undefined) return thrown;
  const url = `${origin}/connect/${encodeURIComponent(name)}`;
  const detail = `${thrown.message}. Connect it at ${url} and try again`;
  return new PorticoError('account_required', detail, { data: { connect_url: url } });
}

/** The text that people see beside the link, which their client shows by itself. */
export const connectText = ({ name }: Pick<Server, 'name'>): string =>
  `Connect your account at ${name} on this page, then continue`;

/** Returns the link to connect the account that a failure is about; undefined if it is about none. */
export function linkOf({ code, extras }: PorticoError): string | undefined {
  const url = code === 'account_required' ? extras.data?.['connect_url'] : undefined;
  return typeof url === 'string' ? url : undefined;
}

/** Adds the server at fault to a thrown value, if a server is at fault. */
export function toServerFailure(server: Server, thrown: unknown): unknown {
  return thrown instanceof PorticoError && thrown.entry.toolResult
    ? new ServerFailure(server, thrown)
    : thrown;
}

/** Passes messages on; if they break off, the error names the server. @param caller the caller of the call */
export async function* failingAs(
  server: Server,
  messages: CallMessages,
  caller?: LinkCaller,
): CallMessages {
  try {
    yield* messages;
  } catch (thrown) {
    throw toServerFailure(server, caller ? withConnectUrl(server, thrown, caller) : thrown);
  }
}
