/** What a call is, by its server's verdict, its request and its client: in which session, by whom and in which era it is made. Pure. */
import { RPC } from '../shared/protocol.ts';
import type { Verdict } from '../servers/registry/server-schema.ts';
import type { CallContext } from './protocol/call.ts';
import type { RawResponse } from './protocol/message.ts';
import type { OutboundRequest } from './protocol/wire-request.ts';

/** A further round of a call that a server of both eras answered in the modern one, and goes on with there. */
export function isRound({ modernVersion }: Verdict, { params }: OutboundRequest): boolean {
  return (
    modernVersion !== undefined && (params.has('inputResponses') || params.has('requestState'))
  );
}

/** The tasks of one era are not the other's. */
export function isAboutTasks({ method, tasks = false }: OutboundRequest): boolean {
  return tasks || method.startsWith('tasks/');
}

/**
 * Who makes a call. The object: over HTTP+SSE, whose connection is the session, and where it goes on with a suspended call or its
 * session is its own. Either: to a legacy server that may ask a client which answers with its next request; where it does, the call
 * is the object's.
 */
export function callerOf(
  verdict: Verdict,
  request: OutboundRequest,
  context: CallContext,
): 'worker' | 'object' | 'either' {
  if (verdict.transport === 'sse') return 'object';
  if (verdict.era !== 'legacy' || context.questions === 'ask') return 'worker';
  const isRetry = request.params.has('requestState');
  const wantsLogs = verdict.sessionful && request.logLevel !== undefined;
  if (isRetry || wantsLogs) return 'object';
  if (!maySuspend(context)) return 'worker';
  return isAboutTasks(request) ? 'object' : 'either';
}

/** What a request asks of a server: requests of the same are alike. @param name of what the mirrored header tells */
export const kindOf = ({ method }: OutboundRequest, name: string | undefined): string =>
  method === 'tools/call' ? `${method} ${name}` : method;

export function hasProgressToken({ params }: OutboundRequest): boolean {
  return params.get('_meta')?.includes('progressToken') ?? false;
}

/** Whether the client of a call can be asked, but only with its next request. */
export function maySuspend({ capabilities, questions }: CallContext): boolean {
  return questions === 'suspend' && Object.keys(capabilities).length > 0;
}

/**
 * Whether a call needs a session to itself while it runs, because of what comes on the session's
 * notification stream: questions that are suspended, or the log messages that its client asked for.
 */
export function hearsInObject(context: CallContext, wantsLogs: boolean): boolean {
  return maySuspend(context) || (context.questions === 'suspend' && wantsLogs);
}

/**
 * Whether a server is not what it was at the last look: its mirrored headers were made of a schema that it no longer has, or it
 * no longer speaks the era of the request.
 */
export function isStranger(response: RawResponse): boolean {
  const code = 'error' in response ? response.parsed['code'] : undefined;
  return code === RPC.headerMismatch || code === RPC.unsupportedProtocolVersion;
}
