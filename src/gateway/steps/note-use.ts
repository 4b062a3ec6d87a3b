/**
 * Tells who learns from use that a tool was called and answered with success. What it tells is of the caller's own view: a tool was found and
 * called within it. A result of the cache tells nothing, and nothing waits for it.
 */
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { RelayedRequest } from '../gateway.ts';
import type { ListedItem } from '../listing.ts';
import type { Resolved } from '../resolve.ts';
import type { Viewer } from '../viewer.ts';

/** A tool, as its server's catalog has it. */
export type UsedTool = { server: Server; item: CatalogItem };

/** Who learns from use. Neither function fails or waits. */
export interface Uses {
  /** Somebody searched, and was shown these. */
  searched(principalId: string, query: string, hits: readonly ListedItem[]): void;
  /** Somebody called a tool with success. */
  called(principalId: string, tool: UsedTool, waitUntil: WaitUntil): void;
}

/** The same reply. */
export function noteUse(
  uses: Uses,
  { caller }: Pick<Viewer, 'caller'>,
  { method }: Pick<RelayedRequest, 'method'>,
  { server, item }: Resolved,
  { waitUntil }: Pick<CallContext, 'waitUntil'>,
  reply: CallReply,
): CallReply {
  if (!item || method !== 'tools/call') return reply;
  const note = (response: RawResponse) => {
    if (isSuccess(response)) uses.called(caller.principalId, { server, item }, waitUntil);
  };
  if ('messages' in reply) return { messages: watched(reply.messages, note) };
  note(reply.response);
  return reply;
}

/** Neither an error nor a question nor the promise of a result. */
function isSuccess(response: RawResponse): boolean {
  const { isError, resultType = 'complete' } = response.parsed;
  return 'result' in response && isError !== true && resultType === 'complete';
}

async function* watched(
  messages: CallMessages,
  note: (response: RawResponse) => void,
): CallMessages {
  for await (const message of messages) {
    if (message.kind === 'response') note(message);
    yield message;
  }
}
