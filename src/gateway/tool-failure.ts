/** A call that was routed and failed on the way: which server it was, and why. */
import type { PorticoError } from '../errors/portico-error.ts';
import type { Server } from '../registry/server-schema.ts';

export class ToolFailure extends Error {
  readonly server: Server;
  readonly reason: PorticoError;

  constructor(server: Server, reason: PorticoError) {
    super(reason.message);
    this.name = 'ToolFailure';
    this.server = server;
    this.reason = reason;
  }
}
