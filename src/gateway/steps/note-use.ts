/**
 * Reports calls of tools that succeeded to what learns from uses. It reports only within the caller's own view: the tool was found and
 * called in it. A cached result is not reported, and nothing waits for the report.
 */
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import { taskFormOf, type RawResponse } from '../../upstream/protocol/message.ts';
import type { RelayedRequest } from '../gateway.ts';
import type { ListedItem } from '../listing.ts';
import type { Resolved } from '../resolve.ts';
import type { Viewer } from '../viewer.ts';

/** A tool as in its server's catalog. */
export type UsedTool = { server: Server; item: CatalogItem };

/** Learns from uses. Neither function fails or waits. */
export interface Uses {
  /** A principal searched and was shown these hits. */
  searched(principalId: string, query: string, hits: readonly ListedItem[]): void;
  /** A principal called a tool with success. */
  called(principalId: string, tool: UsedTool, waitUntil: WaitUntil): void;
}

/** Returns the same reply, watched for a success. */
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

/** Whether it is neither an error nor a request for input nor a task. */
function isSuccess(response: RawResponse): boolean {
  const { parsed } = response;
  const { isError, resultType = 'complete' } = parsed;
  const isDone = resultType === 'complete' && taskFormOf(parsed) === undefined;
  return 'result' in response && isError !== true && isDone;
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
