/**
 * HTTP headers for the host's messages to the gateway. Pure. Source: MCP 2026-07-28, Streamable HTTP, Request Metadata; 2025-11-25,
 * transports.
 */
import {
  toParamHeaders,
  type ParamHeader,
  encodeHeaderValue,
} from '../../../src/upstream/protocol/param-headers.ts';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import type { HostRequest } from './message.ts';

/** A legacy session at the gateway. */
export interface OpenSession {
  /** Undefined where the gateway keeps no session. */
  id: string | undefined;
  protocolVersion: string;
}

/** The member of `params` that is repeated in `Mcp-Name`. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Headers of a legacy message; `session` is undefined before there is one. */
export function legacyHeaders(session: OpenSession | undefined): Record<string, string> {
  return {
    ...(session ? { 'mcp-protocol-version': session.protocolVersion } : {}),
    ...(session?.id === undefined ? {} : { 'mcp-session-id': session.id }),
  };
}

/** Headers of a modern request. @param mirrored the parameters that its tool wants in headers */
export function modernHeaders(
  { method, params, text, version }: HostRequest,
  mirrored: readonly ParamHeader[],
): Record<string, string> {
  const key = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = key === undefined ? undefined : params[key];
  const args = mirrored.length > 0 ? argumentsOf(text) : undefined;
  return {
    ...toParamHeaders(mirrored, args),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
  };
}

/** The raw arguments of a call, in which numbers keep all their digits. */
function argumentsOf(text: string): string | undefined {
  return rawMembers(rawMembers(text).get('params') ?? '{}').get('arguments');
}
