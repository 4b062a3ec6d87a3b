/**
 * The two ways to say which log messages are wanted: `logging/setLevel` for a legacy session, a
 * `_meta` key of each request in the modern era, where no key means none.
 * Source: MCP 2025-11-25 and 2026-07-28, Logging.
 */
import type { RequestContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import {
  isObject,
  LOG_LEVELS,
  META,
  type LogLevel,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { resultResponse } from '../reply/response.ts';

function parseLogLevel(value: unknown): LogLevel {
  const level = LOG_LEVELS.find(known => known === value);
  if (level) return level;
  throw new PorticoError('invalid_params', `The log level must be one of ${LOG_LEVELS.join(', ')}`);
}

/** What a modern request asks for. @throws PorticoError `invalid_params` */
export function requestedLogLevel({ params }: RpcRequest): LogLevel | 'none' {
  const meta = params?.['_meta'];
  const value = isObject(meta) ? meta[META.logLevel] : undefined;
  return value === undefined ? 'none' : parseLogLevel(value);
}

/** Answer `logging/setLevel`. @throws PorticoError `session_required`, `invalid_params` */
export async function setLogLevel(
  { setLogLevel: remember }: RequestContext,
  { id, params }: RpcRequest,
): Promise<Response> {
  if (!remember) throw new PorticoError('session_required', 'A log level is kept with a session');
  await remember(parseLogLevel(params?.['level']));
  return resultResponse(id, '{}');
}
