/**
 * Observes a call for telemetry: what it turned out to be, each request to its server with the trace context that it carries, and how it
 * ended. Nothing that the caller may not see comes here.
 */
import type { Server } from '../../servers/registry/server-schema.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { withMembers } from '../../shared/json/json-spans.ts';
import { isObject } from '../../shared/protocol.ts';
import { redactArguments } from '../../shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../shared/redaction/secret-marks.ts';
import {
  toEnding,
  type Ending,
  type Operation,
  type OperationFacts,
  type Sending,
  type SendingFacts,
} from '../../telemetry/operation.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { OutboundRequest } from '../../upstream/protocol/wire-request.ts';
import type { RelayedRequest, RoutedReply } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';
import { failureCode } from '../server-failure.ts';
import type { SendStep } from './send.ts';

/** The step. It does nothing for a request that is not observed. */
export const observe: SendStep = next => async (server, request, name, context) => {
  const { operation, signal } = context;
  if (!operation) return next(server, request, name, context);
  const sending = operation.sends(toFacts(server, request, name));
  try {
    const reply = await next(server, traced(request, sending), name, context);
    if ('messages' in reply)
      return { messages: watched(reply.messages, operation, sending, signal) };
    noteAnswer(operation, sending, reply.response);
    return reply;
  } catch (thrown) {
    sending.ends(failure(thrown, signal));
    throw thrown;
  }
};

function toFacts(
  { name: server, transportType, url, verdict }: Server,
  { method }: OutboundRequest,
  name: string | undefined,
): SendingFacts {
  const facts: SendingFacts = { server, transportType, url, method };
  if (verdict) Object.assign(facts, { protocolVersion: verdict.protocolVersion });
  if (name !== undefined && method === 'tools/call') facts.tool = name;
  if (name !== undefined && method === 'prompts/get') facts.prompt = name;
  return facts;
}

/** Adds the trace context to the request: to its headers and to `_meta` (SEP-414), which is all that a stdio program gets. */
function traced(request: OutboundRequest, { context }: Sending): OutboundRequest {
  if (!context) return request;
  const meta = withMembers(request.params.get('_meta') ?? '{}', context);
  const params = new Map(request.params).set('_meta', meta);
  return { ...request, params, traceHeaders: context };
}

/** Notes a response: a result, or server requests, after which the client calls again. */
function noteAnswer(operation: Operation, sending: Sending, response: RawResponse): void {
  if (operation.keepsContent && 'result' in response) operation.is({ result: response.result });
  const { resultType, inputRequests } = response.parsed;
  if (resultType === 'input_required') {
    // A call that is suspended in an object passes on one server request at a time.
    sending.countQuestions(isObject(inputRequests) ? Object.keys(inputRequests).length : 1);
  }
  sending.ends(endingOf(response));
}

/** Returns how a request ended that was answered. */
function endingOf(response: RawResponse): Ending {
  const { parsed } = response;
  if ('error' in response) {
    const { code } = parsed;
    return typeof code === 'number' ? { outcome: 'rpc_error', code } : { outcome: 'rpc_error' };
  }
  return { outcome: parsed['isError'] === true ? 'tool_error' : 'ok' };
}

function failure(thrown: unknown, signal: AbortSignal): Ending {
  if (signal.aborted) return { outcome: 'cancelled' };
  return { outcome: 'failed', code: thrown instanceof PorticoError ? thrown.code : 'internal' };
}

async function* watched(
  messages: CallMessages,
  operation: Operation,
  sending: Sending,
  signal: AbortSignal,
): CallMessages {
  try {
    for await (const message of messages) {
      if (message.kind === 'question') sending.countQuestions();
      if (message.kind === 'response') noteAnswer(operation, sending, message);
      yield message;
    }
    sending.ends({ outcome: 'failed', code: 'upstream_no_response' });
  } catch (thrown) {
    sending.ends(failure(thrown, signal));
    throw thrown;
  } finally {
    // The consumer stopped reading the messages.
    sending.ends({ outcome: 'cancelled' });
  }
}

/** Notes what is called: its server is known, and its caller may see it. */
export function noteCalled(
  { operation }: CallContext,
  { method, params }: RelayedRequest,
  { server, name, item }: Resolved,
): void {
  if (!operation || operation.hasTarget) return;
  const facts: Partial<OperationFacts> = { server: server.name };
  if (method === 'tools/call') facts.tool = name;
  if (method === 'prompts/get') facts.prompt = name;
  if (method === 'resources/read') facts.uri = name;
  const given = operation.keepsContent ? params.get('arguments') : undefined;
  if (given !== undefined) {
    const { arguments: kept } = redactArguments(given, item && markedSchemaOf(item));
    facts.arguments = JSON.stringify(kept ?? {});
  }
  operation.is(facts);
}

/** Notes the error that the call failed with. */
export function noteFailed({ operation, signal }: CallContext, thrown: unknown): void {
  operation?.ends(signal.aborted ? { outcome: 'cancelled' } : toEnding(failureCode(thrown)));
}

/** Notes a call that was answered. If its caller gets an error instead, the call ends with that. */
export function noteReplaced({ operation }: CallContext, routed: RoutedReply): RoutedReply {
  if (!operation) return routed;
  if (routed.isHit) operation.is({ isHit: true });
  return {
    ...routed,
    onReplaced(code) {
      operation.ends(toEnding(code));
      routed.onReplaced?.(code);
    },
  };
}
