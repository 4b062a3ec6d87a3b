/** What the gateway's own tools share: a list with the same bytes for everybody, and the form of their results and failures. */
import type { z } from 'zod';
import { MAX_LIST_TTL_MS } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toToolResultText } from '../../shared/errors/to-tool-result.ts';
import { IMPLEMENTATION, isObject, type Era, type RpcRequest } from '../../shared/protocol.ts';
import { TRACEPARENT } from '../../tracing/traceparent.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import { modernMembers } from '../reply/list-result.ts';

/** Returns the raw result of `tools/list`. @throws PorticoError `invalid_params` for any cursor: there is one page */
export type OwnList = (cursor: string | undefined, era: Era) => Uint8Array;

const encoder = new TextEncoder();

export function createOwnList(tools: readonly object[]): OwnList {
  const items = `"tools":${JSON.stringify(tools)}`;
  const results: Record<Era, Uint8Array> = {
    legacy: encoder.encode(`{${items}}`),
    modern: encoder.encode(`{${modernMembers(MAX_LIST_TTL_MS)}${items}}`),
  };
  return (cursor, era) => {
    if (cursor === undefined) return results[era];
    throw new PorticoError('invalid_params', 'The cursor is not valid; start again without one');
  };
}

/** Parses the arguments of such a tool. @throws PorticoError `invalid_params`, in words by which a model can correct itself */
export function parseOwn<T>(tool: string, schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'arguments';
  throw new PorticoError('invalid_params', `${tool}: ${where}: ${issue?.message}`);
}

/**
 * Returns the `traceparent` for work that serves a request: that of its own span, else the one it carries (2026-07-28, `_meta`, SEP-414).
 */
export function traceparentOf(
  { operation }: Pick<CallContext, 'operation'>,
  { params }: RpcRequest,
): string | undefined {
  if (operation?.traceparent !== undefined) return operation.traceparent;
  const meta = params?.['_meta'];
  const parent = isObject(meta) ? meta[TRACEPARENT] : undefined;
  return typeof parent === 'string' ? parent : undefined;
}

/** Returns the raw result of such a tool. @param text JSON of the answer, given to programs and, unchanged, to models */
export const ownResultText = (text: string, isError: boolean): string =>
  `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text},"isError":${isError}}`;

/** Returns a failure of the gateway as a raw tool result, worded as if a server of the gateway's name had failed. */
export const ownFailureText = (error: PorticoError): string =>
  toToolResultText(error, IMPLEMENTATION.name);
