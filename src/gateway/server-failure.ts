/** A request that was routed and failed on the way: which server it was, and why. */
import type { PorticoError } from '../errors/portico-error.ts';
import type { Server } from '../registry/server-schema.ts';

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
