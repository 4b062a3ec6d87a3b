/**
 * Multi round-trip requests: the client gets the state that a server gives with `input_required` sealed, bound to the principal, the
 * server, the request and a time. It is opened only for the same. A server behind a shared credential sees one caller; this keeps callers
 * apart.
 * Source: MCP 2026-07-28, Multi Round-Trip Requests, server requirements.
 */
import type { Viewer, VisibleServers } from '../viewer.ts';
import { asksForAccount, isRefusal, withoutAccountAnswer } from './ask-for-account.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { RelayedRequest } from '../gateway.ts';
import { toLinkRequests, withoutUndeclaredInput } from '../results/undeclared-input.ts';
import { ServerFailure } from '../server-failure.ts';

export interface RequestStateOptions {
  keys: KeyRing;
  /** How long a client may take to come back, in milliseconds. */
  lifetimeMs: number;
}

/** What a state is sealed with. */
interface Sealing {
  bound: string;
  server: Server;
  capabilities: JsonObject;
}

/** Members that belong to one round only, so the state is not bound to them. */
const ROUND_MEMBERS = new Set(['inputResponses', 'requestState', '_meta']);

/** A request with the server's own state, if it has one; and the handling of its reply. */
export interface OpenedState {
  request: RelayedRequest;
  /** Checks that the request goes to the server that gave the state. @throws PorticoError `invalid_params` */
  requireFrom(server: Server): void;
  /** Seals the state that the server gives for the next round. */
  close(server: Server, reply: CallReply): Promise<CallReply>;
}

export interface RequestStates {
  /** @throws PorticoError `invalid_params` if the state is not this caller's for this request, or too old */
  open(viewer: Viewer, request: RelayedRequest, context: CallContext): Promise<OpenedState>;
}

/** Seals and opens states so that only their caller can use them. */
export function createRequestStates({ keys, lifetimeMs }: RequestStateOptions): RequestStates {
  async function seal(
    given: RawResponse,
    { bound, server, capabilities }: Sealing,
  ): Promise<RawResponse> {
    const links = 'error' in given ? toLinkRequests(given) : undefined;
    const asking = links ?? given;
    if (!('result' in asking) || asking.parsed['resultType'] !== 'input_required') return given;
    const response = withoutUndeclaredInput(asking, capabilities);
    if (!('result' in response)) return response;
    const members = rawMembers(response.result);
    const state = members.get('requestState');
    const until = Date.now() + lifetimeMs;
    const own = asksForAccount(given) ? true : undefined;
    const plain = JSON.stringify({ state, server: server.id, until, own, links: links && true });
    members.set('requestState', JSON.stringify(await keys.seal('state', plain, bound)));
    return { ...response, result: fromRawMembers(members) };
  }

  async function* sealLast(messages: CallMessages, sealing: Sealing): CallMessages {
    for await (const message of messages) {
      yield message.kind === 'response' ? await seal(message, sealing) : message;
    }
  }

  /** Returns the params with the server's own state in place of the sealed one, and the id of that server. */
  async function opened(
    params: RawObject,
    bound: string,
    visible: VisibleServers,
  ): Promise<{ params: RawObject; serverId: unknown }> {
    const text: unknown = JSON.parse(params.get('requestState') ?? 'null');
    const plain = typeof text === 'string' ? await keys.open('state', text, bound) : undefined;
    const held: unknown = plain === undefined ? undefined : JSON.parse(plain);
    const server = isObject(held) && visible.servers.find(({ id }) => id === held['server']);
    if (!server || Number(held['until']) < Date.now()) {
      throw refused();
    }
    const copy = new Map(held['own'] === true ? withoutAccountAnswer(params) : params);
    if (held['links'] === true) {
      if (hasRefusal(copy.get('inputResponses'))) throw new ServerFailure(server, notOpened());
      copy.delete('inputResponses');
    }
    if (typeof held['state'] === 'string') copy.set('requestState', held['state']);
    else copy.delete('requestState');
    return { params: copy, serverId: held['server'] };
  }

  return {
    async open({ caller, visible }, request, context) {
      if (context.questions !== 'suspend') {
        return { request, requireFrom: () => {}, close: async (_, reply) => reply };
      }
      const isRetry = request.params.has('requestState');
      const first = isRetry ? await boundTo(caller.principalId, request) : undefined;
      const { params, serverId } =
        first === undefined
          ? { params: request.params, serverId: undefined }
          : await opened(request.params, first, visible);
      return {
        request: { ...request, params },
        requireFrom(server) {
          if (first !== undefined && server.id !== serverId) throw refused();
        },
        async close(server, reply) {
          if ('response' in reply && !asksForInput(reply.response)) return reply;
          const bound = first ?? (await boundTo(caller.principalId, request));
          const sealing = { bound, server, capabilities: context.capabilities };
          return 'response' in reply
            ? { response: await seal(reply.response, sealing) }
            : { messages: sealLast(reply.messages, sealing) };
        },
      };
    },
  };
}

const asksForInput = (response: RawResponse): boolean =>
  'error' in response
    ? toLinkRequests(response) !== undefined
    : response.parsed['resultType'] === 'input_required';

const refused = () =>
  new PorticoError('invalid_params', 'params.requestState is not valid for this request');

const notOpened = () =>
  new PorticoError(
    'upstream_needs_input',
    'It wants a link to be opened first, which was declined',
  );

/** Whether the person declined or cancelled one of a round's requests. */
function hasRefusal(answers: string | undefined): boolean {
  const parsed: unknown = JSON.parse(answers ?? 'null');
  return isObject(parsed) && Object.values(parsed).some(isRefusal);
}

/** Returns what a state is bound to: the principal, the method and the params. */
async function boundTo(principalId: string, request: RelayedRequest): Promise<string> {
  const lasting = [...request.params].filter(([key]) => !ROUND_MEMBERS.has(key));
  const digest = await sha256Hex(fromRawMembers(new Map(lasting)));
  return `${principalId}|${request.method}|${digest}`;
}

/** Most rounds of one call that go on with a state alone. */
const MAX_ROUNDS = 16;
const TOO_OFTEN = 'It wants further rounds of the call too often';

/**
 * Goes on with a call whose server wants nothing but its state back, as it does to work in steps: nobody has to be asked. For clients that
 * do not do so themselves.
 * @param round of this reply
 */
export function goOn(
  server: Server,
  reply: CallReply,
  round: number,
  again: (extra: RawObject, round: number) => Promise<CallReply>,
): CallReply | Promise<CallReply> {
  const { verdict } = server;
  if (verdict?.era !== 'modern' && verdict?.modernVersion === undefined) return reply;
  const next = (state: RawObject) => {
    if (round < MAX_ROUNDS) return again(state, round + 1);
    throw new ServerFailure(server, new PorticoError('upstream_needs_input', TOO_OFTEN));
  };
  if ('messages' in reply) return { messages: goOnAfter(reply.messages, next) };
  const state = stateAlone(reply.response);
  return state ? next(state) : reply;
}

async function* goOnAfter(
  messages: CallMessages,
  next: (state: RawObject) => Promise<CallReply>,
): CallMessages {
  let state: RawObject | undefined;
  for await (const message of messages) {
    if (message.kind === 'response') state = stateAlone(message);
    if (state) break;
    yield message;
  }
  if (!state) return;
  const reply = await next(state);
  if ('response' in reply) yield reply.response;
  else yield* reply.messages;
}

/** Returns the state that a server wants back, as the next round carries it, if it asks for nothing else. */
function stateAlone(response: RawResponse): RawObject | undefined {
  const { resultType, inputRequests = {}, requestState } = response.parsed;
  const asksNothing = isObject(inputRequests) && Object.keys(inputRequests).length === 0;
  if (resultType !== 'input_required' || !asksNothing || typeof requestState !== 'string') {
    return undefined;
  }
  return new Map([['requestState', JSON.stringify(requestState)]]);
}
