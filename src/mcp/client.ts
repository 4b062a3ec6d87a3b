/**
 * The client of a request: its session if it has one, and what it can be asked in which way. Pure.
 */
import type { Snapshot } from '../access/admission/snapshots.ts';
import { rawMembers } from '../shared/json/json-spans.ts';
import { visibleToClient } from '../gateway/steps/restrict.ts';
import { isObject, META, type Era, type RequestId, type RpcRequest } from '../shared/protocol.ts';
import { clientCapabilitiesOf } from '../shared/client-capabilities.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { Incoming } from './incoming.ts';
import type { EndpointViewer } from './endpoint.ts';

export interface Client extends Pick<CallContext, 'capabilities' | 'questions'> {
  sessionId?: string | undefined;
}

/** A client that cannot be asked. */
export const SILENT_CLIENT: Client = { capabilities: {}, questions: 'ask' };

/** A modern client answers with its next request. */
export function modernClient({ params }: RpcRequest): Client {
  const meta = params?.['_meta'];
  const capabilities = isObject(meta) ? clientCapabilitiesOf(meta[META.clientCapabilities]) : {};
  return { capabilities, questions: 'suspend' };
}

/** A legacy client can be asked in a session, on the stream of its call. */
export function legacyClient(
  incoming: Incoming,
  { session }: Snapshot,
  sessionId: string | undefined,
): Client {
  if (sessionId === undefined) return SILENT_CLIENT;
  const capabilities = acceptsStream(incoming) ? (session?.capabilities ?? {}) : {};
  return { sessionId, capabilities, questions: 'ask' };
}

/** A viewer as a client of an era with these capabilities: servers of both eras are of its own. */
export function viewerOfClient(
  viewer: EndpointViewer,
  era: Era,
  { capabilities }: Client,
): EndpointViewer {
  return { ...viewer, visible: visibleToClient(viewer.visible, era, capabilities) };
}

/** Whether a request takes an event stream as its answer; one that does not say takes all. */
export function acceptsStream({ headers }: Incoming): boolean {
  const accept = headers.get('accept');
  return accept === null || /text\/(event-stream|\*)|\*\/\*/i.test(accept);
}

/** A client's response as the answer to a question. */
export function toAnswer(text: string): { id: RequestId; answer: RawAnswer } {
  const members = rawMembers(text);
  const id = JSON.parse(members.get('id') ?? '""') as RequestId;
  const result = members.get('result');
  return { id, answer: result ? { result } : { error: members.get('error') ?? '{}' } };
}
