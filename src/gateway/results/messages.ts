/**
 * Takes out of what a server says during a call what is none of its caller's. The server's own URI of a resource is not: an update goes
 * to who subscribed, on the stream where that is heard. Log messages are not where the caller did not ask for them: a legacy server logs
 * as its session says, whatever the single request wants. Pure but for the messages it reads.
 */
import { parseUpdated, UPDATED } from '../../shared/json/updated.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import { isObject, LOG_LEVELS, type LogLevel } from '../../shared/protocol.ts';

/** Resources one reply may tell of. */
const MAX_UPDATES = 100;

/** The messages without updates; each is passed on once. */
export async function* withoutUpdates(
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

const LOG_MESSAGE = 'notifications/message';

/** @param level least severe messages that pass; all do where it is absent */
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

/** A level nobody knows passes where any is wanted: it is not ours to judge. */
export function isWanted(text: string, level: LogLevel | 'none' | undefined): boolean {
  if (level === undefined) return true;
  if (level === 'none') return false;
  const { params } = JSON.parse(text) as { params?: unknown };
  const given = isObject(params) ? LOG_LEVELS.findIndex(known => known === params['level']) : -1;
  return given === -1 || given >= LOG_LEVELS.indexOf(level);
}
