/** What a call is, by its server's verdict, its request and its client: in which session, by whom and in which era it is made. Pure. */
import type { Verdict } from '../servers/registry/server-schema.ts';
import type { CallContext } from './protocol/call.ts';
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
 * Whether an object has to make the call: HTTP+SSE, whose connection is the session, and a legacy
 * server that may ask a client which answers with its next request, or is asked by its retry.
 */
export function needsObject(
  verdict: Verdict,
  request: OutboundRequest,
  context: CallContext,
): boolean {
  if (verdict.transport === 'sse') return true;
  if (verdict.era !== 'legacy') return false;
  const isRetry = context.questions === 'suspend' && request.params.has('requestState');
  return isRetry || hearsInObject(context, verdict.sessionful && request.logLevel !== undefined);
}

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
