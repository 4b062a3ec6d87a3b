/**
 * Makes the one call of a request to ask through the gateway like anybody else's, once. A failure is reported by its code; nothing is
 * retried.
 */
import type { CallerView } from '../../gateway/viewer.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { callTool } from '../../gateway/call-tool.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { ServerFailure } from '../../gateway/server-failure.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject, type Era, type JsonObject } from '../../shared/protocol.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import type { GuardedTool } from './request-guard.ts';

export interface OneCall extends CallerView {
  tool: GuardedTool;
  args: JsonObject;
  source: Era | 'rest';
  context: Pick<CallContext, 'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes' | 'operation'>;
  /** Time left for the request, in milliseconds. */
  leftMs: number;
}

export type Called = { raw: string; result: JsonObject } | { code: ErrorCode; message: string };

const MAX_MESSAGE_CHARS = 500;

export async function callOnce(gateway: Gateway, call: OneCall): Promise<Called> {
  const { caller, visible, tool, args, source, context, leftMs } = call;
  const deadline = AbortSignal.timeout(Math.max(1, leftMs));
  const signal = AbortSignal.any([context.signal, deadline]);
  try {
    const { server, response } = await callTool(gateway, {
      viewer: { caller, visible, naming: { kind: 'own', serverId: tool.server.id } },
      name: tool.tool,
      args: JSON.stringify(args),
      source,
      context: { ...context, signal },
    });
    if (!response) {
      throw new PorticoError('upstream_needs_input', `${server.name} asks for input`);
    }
    if ('error' in response) {
      const { message } = response.parsed;
      return { code: 'upstream_4xx', message: toOneLine(String(message), MAX_MESSAGE_CHARS) };
    }
    const result: unknown = JSON.parse(response.result);
    return { raw: response.result, result: isObject(result) ? result : {} };
  } catch (thrown) {
    const isLate = deadline.aborted && !context.signal.aborted;
    const failure = thrown instanceof ServerFailure ? thrown.reason : thrown;
    const { code, message } = isLate
      ? new PorticoError('upstream_timeout')
      : toPorticoError(failure);
    return { code, message };
  }
}
