/**
 * Keeps log messages from a caller that did not ask for them: a legacy server logs as its session
 * says, whatever the single request wants. Pure but for the messages it reads.
 */
import { isObject, LOG_LEVELS, type LogLevel } from '../../shared/protocol.ts';
import type { CallMessages, CallReply } from '../../upstream/protocol/call.ts';

const LOG_MESSAGE = 'notifications/message';

/** @param level least severe messages that pass; all do where it is absent */
export function withLogLevel(reply: CallReply, level: LogLevel | 'none' | undefined): CallReply {
  if (level === undefined || 'response' in reply) return reply;
  return { messages: filtered(reply.messages, level) };
}

async function* filtered(messages: CallMessages, level: LogLevel | 'none'): CallMessages {
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
