/**
 * Removes from a server's messages during a call what the caller must not get here. Updates of resources: they have the server's own URI,
 * and go to subscribers on the stream for them. Log messages that the caller did not ask for: a legacy server logs at the level of its
 * session, whatever the single request wants. Pure but for the messages it reads.
 */
import { parseUpdated, UPDATED } from '../../shared/json/updated.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import { isObject, LOG_LEVELS, type LogLevel } from '../../shared/protocol.ts';

/** Most resources whose updates one reply may announce. */
const MAX_UPDATES = 100;

/** Returns the messages without updates of resources; each update is passed to `onUpdated` once. */
export async function* withoutUpdates(
  { id, verdict }: Pick<Server, 'id' | 'verdict'>,
  messages: CallMessages,
  { onUpdated }: Pick<CallContext, 'onUpdated'>,
): CallMessages {
  const announced = new Set<string>();
  for await (const message of messages) {
    if (message.kind !== 'notification' || message.method !== UPDATED) {
      yield message;
      continue;
    }
    const change = parseUpdated(message.text);
    // In the modern era updates belong on a listener's stream.
    const isNew = change !== undefined && verdict?.era === 'legacy' && !announced.has(change.uri);
    if (!isNew || announced.size >= MAX_UPDATES) continue;
    announced.add(change.uri);
    onUpdated?.(id, change.uri, change.params);
  }
}

const LOG_MESSAGE = 'notifications/message';

/** @param level least severe messages that pass; all pass if it is absent */
export function withLogLevel(
  messages: CallMessages,
  level: LogLevel | 'none' | undefined,
): CallMessages {
  return level === undefined ? messages : wanted(messages, level);
}

async function* wanted(messages: CallMessages, level: LogLevel | 'none'): CallMessages {
  for await (const message of messages) {
    const isLog = message.kind === 'notification' && message.method === LOG_MESSAGE;
    if (!isLog || isWanted(message.text, level)) yield message;
  }
}

/** Whether a log message passes. An unknown level passes if any is wanted: it is not for the gateway to judge. */
export function isWanted(text: string, level: LogLevel | 'none' | undefined): boolean {
  if (level === undefined) return true;
  if (level === 'none') return false;
  const { params } = JSON.parse(text) as { params?: unknown };
  const given = isObject(params) ? LOG_LEVELS.findIndex(known => known === params['level']) : -1;
  return given === -1 || given >= LOG_LEVELS.indexOf(level);
}
