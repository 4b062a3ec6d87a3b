/**
 * The one error class that crosses module borders. It carries a code of the table and a detail
 * that is safe to show to the caller: no address, no secret, no stack.
 */
import { errorEntry, type ErrorCode, type ErrorEntry } from './table.ts';

/** One field of a request that is not right. */
export interface FieldProblem {
  field: string;
  message: string;
}

export interface ErrorExtras {
  /** Machine-readable data for the JSON-RPC error's `data`. */
  data?: Record<string, unknown>;
  /** Field by field problems, for 422. */
  fields?: FieldProblem[];
  /** Scopes that would do, for who is refused for want of one. */
  scopes?: readonly string[];
  /** Raw JSON of a server's error, which a client of the server gets in place of this one. */
  serverError?: string | undefined;
  /** Seconds after which trying again may help. */
  retryAfterSeconds?: number;
}

export class PorticoError extends Error {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;

  /** @param detail one line for the caller; defaults to the table's title */
  constructor(code: ErrorCode, detail?: string, extras: ErrorExtras = {}) {
    super(detail ?? errorEntry(code).title);
    this.name = 'PorticoError';
    this.code = code;
    this.extras = extras;
  }

  get entry(): ErrorEntry {
    return errorEntry(this.code);
  }
}

/** Any thrown value as a PorticoError; what is not one becomes `internal` without its text. */
export function toPorticoError(thrown: unknown): PorticoError {
  return thrown instanceof PorticoError ? thrown : new PorticoError('internal');
}
