/**
 * The only error class that crosses module borders. It carries a code of the table and a detail that is safe to show to
 * the caller: no address, no secret, no stack.
 */
import { errorEntry, type ErrorCode, type ErrorEntry } from './table.ts';

/** One invalid field of a request. */
export interface FieldProblem {
  field: string;
  message: string;
}

export interface ErrorExtras {
  /** Machine-readable data for the JSON-RPC error's `data`. */
  data?: Record<string, unknown>;
  /** Problems field by field, for 422. */
  fields?: FieldProblem[];
  /** The scopes that would suffice, where a scope was missing. */
  scopes?: readonly string[];
  /** Raw JSON of the server's error, which the server's client gets in place of this one. */
  serverError?: string | undefined;
  /** Seconds after which a retry may help. */
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

/** Turns any thrown value into a PorticoError; another kind of value becomes `internal`, without its text. */
export function toPorticoError(thrown: unknown): PorticoError {
  return thrown instanceof PorticoError ? thrown : new PorticoError('internal');
}
