/** A request that was routed and failed on the way: which server it was, and why. */
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

/** The code of a thrown value. */
export const failureCode = (thrown: unknown): ErrorCode =>
  thrown instanceof ServerFailure ? thrown.reason.code : toPorticoError(thrown).code;

/** Who calls, and the origin of the gateway as they ask it; absent where nobody is to be sent there. */
export interface Told {
  principalId: string;
  origin: string | undefined;
}

/** Who lacks an account of their own is told where to connect one. */
export function withConnectUrl({ name }: Server, thrown: unknown, told: Told): unknown {
  if (!(thrown instanceof PorticoError) || thrown.code !== 'account_required') return thrown;
  const { principalId, origin } = told;
  if (principalId === SETUP_TOKEN.principalId) {
    const detail = `${thrown.message}; the token of the deployment has none, that of a principal may`;
    return new PorticoError('account_required', detail);
  }
  if (origin === undefined) return thrown;
  const url = `${origin}/connect/${encodeURIComponent(name)}`;
  const detail = `${thrown.message}. Connect it at ${url} and try again`;
  return new PorticoError('account_required', detail, { data: { connect_url: url } });
}

/** What people are told beside the link, where their client shows that by itself. */
export const askText = ({ name }: Pick<Server, 'name'>): string =>
  `Connect your account at ${name} on this page, then go on`;

/** Where an account is to be connected that a failure is about; undefined where it is about none. */
export function linkOf({ code, extras }: PorticoError): string | undefined {
  const url = code === 'account_required' ? extras.data?.['connect_url'] : undefined;
  return typeof url === 'string' ? url : undefined;
}

/** A thrown value with the server at fault, where a server is. */
export function toServerFailure(server: Server, thrown: unknown): unknown {
  return thrown instanceof PorticoError && thrown.entry.toolResult
    ? new ServerFailure(server, thrown)
    : thrown;
}

/** Messages that tell, where they break off, which server it was. @param told of whom a call is */
export async function* failingAs(
  server: Server,
  messages: CallMessages,
  told?: Told,
): CallMessages {
  try {
    yield* messages;
  } catch (thrown) {
    throw toServerFailure(server, told ? withConnectUrl(server, thrown, told) : thrown);
  }
}
