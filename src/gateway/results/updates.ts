/**
 * Takes what a reply tells of resources out of it: the server's own URI is none of the caller's, and
 * an update goes to who subscribed, on the stream where that is heard. Pure but for the messages it reads.
 */
import { parseUpdated, UPDATED } from '../../shared/json/updated.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';

/** Resources one reply may tell of. */
const MAX_UPDATES = 100;

/** The reply without updates; each is passed on once. */
export function withoutUpdates(
  server: Pick<Server, 'id' | 'verdict'>,
  reply: CallReply,
  context: Pick<CallContext, 'onUpdated'>,
): CallReply {
  if ('response' in reply) return reply;
  return { messages: filtered(server, reply.messages, context) };
}

async function* filtered(
  { id, verdict }: Pick<Server, 'id' | 'verdict'>,
  messages: CallMessages,
  { onUpdated }: Pick<CallContext, 'onUpdated'>,
): CallMessages {
  const told = new Set<string>();
  for await (const message of messages) {
    if (message.kind !== 'notification' || message.method !== UPDATED) {
      yield message;
      continue;
    }
    const change = parseUpdated(message.text);
    // In the modern era they have their place on a listener's stream.
    const isNew = change !== undefined && verdict?.era === 'legacy' && !told.has(change.uri);
    if (!isNew || told.size >= MAX_UPDATES) continue;
    told.add(change.uri);
    onUpdated?.(id, change.uri, change.params);
  }
}
