/** What endpoints that list tools of the gateway's own share: the list, the same bytes for everybody, and how such a tool answers and fails. */
import type { z } from 'zod';
import { MAX_LIST_TTL_MS } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toToolResultText } from '../../shared/errors/to-tool-result.ts';
import { IMPLEMENTATION, isObject, type Era, type RpcRequest } from '../../shared/protocol.ts';
import { TRACEPARENT } from '../../tracing/traceparent.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import { modernMembers } from '../reply/list-result.ts';

/** Gives the raw result of `tools/list`. @throws PorticoError `invalid_params` where there is a cursor: there is one page */
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

/** The arguments of such a tool. @throws PorticoError `invalid_params`, in words a model can correct itself by */
export function parseOwn<T>(tool: string, schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'arguments';
  throw new PorticoError('invalid_params', `${tool}: ${where}: ${issue?.message}`);
}

/** The trace that what is done for a request is part of: its own span, else what it names (2026-07-28, `_meta`, SEP-414). */
export function traceparentOf(
  { operation }: Pick<CallContext, 'operation'>,
  { params }: RpcRequest,
): string | undefined {
  if (operation?.traceparent !== undefined) return operation.traceparent;
  const meta = params?.['_meta'];
  const parent = isObject(meta) ? meta[TRACEPARENT] : undefined;
  return typeof parent === 'string' ? parent : undefined;
}

/** The raw result of such a tool. @param text JSON of what it answers, for programs and, as it is, for models */
export const ownResultText = (text: string, isError: boolean): string =>
  `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text},"isError":${isError}}`;

/** A failure of the gateway as the raw result of a tool: told as a server of its name would tell it. */
export const ownFailureText = (error: PorticoError): string =>
  toToolResultText(error, IMPLEMENTATION.name);
