/**
 * A tool call as an event stream. The reader can answer server requests: a server request ends the stream, and the same call with the
 * answer continues it.
 */
import type { ToolCall } from '../gateway/call-tool.ts';
import { visibleToClient } from '../gateway/steps/restrict.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { ServerFailure } from '../gateway/server-failure.ts';
import { capabilitiesKey } from '../shared/client-capabilities.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { principalOwner } from '../shared/identity/object-owners.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import type { CallReply } from '../upstream/protocol/call.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';
import { toEventStream, type SendEvent } from './event-stream.ts';

/** Server requests that a person at a page can answer. */
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const KEY = capabilitiesKey(CAPABILITIES);
/** The messages of this call have no other reader, so the progress token may be constant. */
const META = '{"progressToken":1}';
const LOG_LEVEL = 'info';

/** Server notifications that become events here; all others concern MCP clients only. */
const EVENTS: ReadonlyMap<string, string> = new Map([
  ['notifications/progress', 'progress'],
  ['notifications/message', 'log'],
]);

/** Raw JSON of the answers to the earlier server requests, and of the request state that came with them. */
export type Round = readonly [responses: string | undefined, state: string | undefined];

/** @param toView returns the JSON text of a result. @throws PorticoError from it, if the response is an error */
export function streamCall(
  gateway: Pick<Gateway, 'request'>,
  call: ToolCall,
  [responses, state]: Round,
  toView: (server: string, response: RawResponse) => string,
): Response {
  const gone = new AbortController();
  const { name, args, source, cache, context } = call;
  const { principalId } = call.viewer.caller;
  const visible = visibleToClient(call.viewer.visible, 'modern', CAPABILITIES);
  const viewer = { ...call.viewer, visible };
  const params: RawObject = new Map([
    ['arguments', args],
    ['_meta', META],
  ]);
  if (responses !== undefined) params.set('inputResponses', responses);
  if (state !== undefined) params.set('requestState', state);
  const reference = { kind: 'tool', name } as const;
  const from = { source, cache, logLevel: LOG_LEVEL } as const;
  const request = { method: 'tools/call', reference, params, ...from } as const;
  const signal = AbortSignal.any([context.signal, gone.signal]);
  const answering = {
    ...context,
    signal,
    owner: (serverId: string) => principalOwner(principalId, serverId, KEY),
    capabilities: CAPABILITIES,
    questions: 'suspend',
  } as const;
  async function run(send: SendEvent): Promise<void> {
    try {
      const { server, reply } = await gateway.request(viewer, request, answering);
      const response = await sendAll(reply, send);
      if ('error' in response || response.parsed['resultType'] !== 'input_required') {
        return send('result', toView(server.name, response));
      }
      send('input_required', toQuestion(response.result));
    } catch (thrown) {
      named(thrown);
    }
  }
  return toEventStream({
    run,
    onGone: () => gone.abort(),
    onEnd: context.bytes?.retain() ?? (() => {}),
  });
}

/** Sends the messages that precede the response as events. @throws PorticoError `upstream_no_response` */
async function sendAll(reply: CallReply, send: SendEvent): Promise<RawResponse> {
  if ('response' in reply) return reply.response;
  for await (const message of reply.messages) {
    if (message.kind === 'response') return message;
    const event = message.kind === 'notification' ? EVENTS.get(message.method) : undefined;
    if (event === undefined || message.kind !== 'notification') continue;
    const shown = rawMembers(rawMembers(message.text).get('params') ?? '{}');
    shown.delete('progressToken');
    send(event, fromRawMembers(shown));
  }
  throw new PorticoError('upstream_no_response');
}

/** Returns the members that the next request needs, under our names. */
function toQuestion(result: string): string {
  const members = rawMembers(result);
  const shown: RawObject = new Map([
    ['input_requests', members.get('inputRequests') ?? '{}'],
    ['request_state', members.get('requestState') ?? 'null'],
  ]);
  return fromRawMembers(shown);
}

/** Turns a failure of a server into a problem that names the server. @throws PorticoError, or `thrown` itself */
export function named(thrown: unknown): never {
  if (!(thrown instanceof ServerFailure)) throw thrown;
  const { server, reason } = thrown;
  throw new PorticoError(reason.code, `${server.name}: ${reason.message}`, reason.extras);
}
