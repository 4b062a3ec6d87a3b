/**
 * The life of a call, from the client's request to the server's answer. `relay` lists its steps in the order in which they happen; the code
 * of each is in `steps/`. A step only subtracts: it hides, refuses, records or remembers.
 *
 * Tests pin the order: what the caller may not see is removed before a name is looked up; a call has its row before anything of it is sent;
 * a cache hit is recorded and counted like any other call; and no id and no state that the client gets from the server's answer works for
 * anybody else.
 */
import { requireScope } from '../shared/identity/principal.ts';
import type { RawObject } from '../shared/json/json-spans.ts';
import type { CallContext, CallMessages, CallReply } from '../upstream/protocol/call.ts';
import { takesOtherTypes } from './extensions.ts';
import type { Gateway, RelayedRequest, RoutedReply } from './gateway.ts';
import type { Lists } from './lists.ts';
import { notFound } from './resolve.ts';
import { toOutbound, resultChanges } from './translate.ts';
import { withLogLevel, withoutUpdates } from './results/messages.ts';
import { failingAs, toServerFailure, withConnectUrl } from './server-failure.ts';
import { callStandIn, isStandIn } from './stand-in.ts';
import type { CallLedger } from './call-log/call-ledger.ts';
import type { CacheAnswer, CachedRequestPorts } from './cache/cached-call.ts';
import { orAskForAccount } from './steps/ask-for-account.ts';
import { answerFromCache } from './steps/cache.ts';
import { endWhenDrained, type OpenCallChannel } from './steps/end-when-drained.ts';
import { noteUse, type Uses } from './steps/note-use.ts';
import { noteCalled, noteFailed, noteReplaced, observe } from './steps/observe.ts';
import { recordOf, type CallRecord } from './steps/record.ts';
import { type CallReports, refuseOpenCircuit, reportOutcome } from './steps/server-health.ts';
import { createRequestStates, goOn, type RequestStateOptions } from './steps/request-state.ts';
import { restrict } from './steps/restrict.ts';
import type { Send } from './steps/send.ts';
import type { Tasks } from './steps/tasks.ts';
import type { Viewer } from './viewer.ts';

export interface CallPorts {
  lists: Pick<Lists, 'catalogOf' | 'catalogsOf' | 'resolve'>;
  tasks: Pick<Tasks, 'open'>;
  /** Records and limits calls; absent if nothing is recorded and nothing limited. */
  ledger: CallLedger | undefined;
  cache: CachedRequestPorts;
  requestState: RequestStateOptions;
  reports: Pick<CallReports, 'add' | 'refuse'>;
  openCallChannel: OpenCallChannel;
  /** Learns from uses; absent if nothing is learned. */
  uses?: Uses | undefined;
  /** Sends a request to a server. */
  send: Send;
}

export function createCall(ports: CallPorts): Gateway['request'] {
  const { lists, tasks, ledger, cache, reports } = ports;
  const states = createRequestStates(ports.requestState);
  const send = [
    refuseOpenCircuit(reports),
    observe,
    reportOutcome(reports),
    endWhenDrained(ports.openCallChannel),
  ].reduceRight((next, step) => step(next), ports.send);

  /** Returns a reader of the catalogs of an endpoint of many servers. */
  const catalogsOf = ({ visible, naming }: Viewer) =>
    naming.kind === 'own' ? undefined : () => lists.catalogsOf(visible);

  async function relay(
    given: Viewer,
    relayed: RelayedRequest,
    client: CallContext,
    record: CallRecord,
  ): Promise<RoutedReply> {
    // Check the scope, then hide what the caller may not see.
    requireScope(given.caller, 'tools:call');
    const viewer = restrict(given);
    // Put the server's own state and task id in place of those that the client holds.
    const state = await states.open(viewer, relayed, client);
    const era = state.request.tasks;
    const task = era && (await tasks.open(viewer, era, state.request, client));
    const { request, context } = task ?? { request: state.request, context: client };
    // Find the server and its own name for the item, and all else that is read: nothing may fail once the call was sent.
    const resolved = await lists.resolve(viewer, request.reference);
    const { server, name } = resolved;
    state.requireFrom(server);
    const catalog = await lists.catalogOf(viewer.visible, server);
    const outbound = toOutbound(request, resolved, catalog.capabilities);
    const isExtended = catalog.capabilities['extensions'] !== undefined;
    const isOpen =
      isExtended && (await takesOtherTypes(request.params, catalog, catalogsOf(viewer)));
    // Write the row and apply the limits; nothing has been sent before.
    noteCalled(context, request, resolved);
    await record.begin(resolved);
    const linkCaller = { principalId: viewer.caller.principalId, origin: context.origin };
    const toOwnMessages = (messages: CallMessages) => {
      const own = withLogLevel(withoutUpdates(server, messages, context), request.logLevel);
      return failingAs(server, own, linkCaller);
    };
    const sendWith = async (params: RawObject, to = server, round = 1): Promise<CallReply> => {
      const mirrored = request.method === 'completion/complete' ? undefined : name;
      let reply: CallReply;
      try {
        const sent = await send(to, { ...outbound, params }, mirrored, context);
        reply = 'response' in sent ? sent : { messages: toOwnMessages(sent.messages) };
        if (ports.uses) reply = noteUse(ports.uses, viewer, request, resolved, context, reply);
      } catch (thrown) {
        throw toServerFailure(server, withConnectUrl(server, thrown, linkCaller));
      }
      return context.questions === 'ask' ? goOn(to, reply, round, sendAgain) : reply;
    };
    // A further round is decided anew: people may take long to answer, and what the caller may do can change meanwhile.
    const sendAgain = async (extra: RawObject, round = 1) => {
      const now = restrict((await relayed.again?.()) ?? given);
      requireScope(now.caller, 'tools:call');
      const found = await lists.resolve(now, request.reference);
      if (found.server.id !== server.id || found.name !== name) throw notFound(request.reference);
      return sendWith(new Map([...outbound.params, ...extra]), found.server, round);
    };
    // Answer from the cache or make the call; if the caller lacks an account, ask for one.
    const call = { caller: viewer.caller, request, context, resolved };
    const sendNow = () => sendWith(outbound.params);
    const answer = async (): Promise<CacheAnswer> =>
      server.cacheRules.length === 0
        ? { reply: await sendNow() }
        : answerFromCache(call, cache, sendNow);
    const answers = relayed.params.get('inputResponses');
    const { reply, isHit } = await (server.accounts === 'shared'
      ? answer()
      : orAskForAccount({ request, answers, context, record }, async () =>
          isStandIn(resolved.item)
            ? { reply: { response: callStandIn(server, linkCaller) } }
            : answer(),
        ));
    const toResult = resultChanges(request, resolved, viewer.naming);
    return {
      server,
      reply: await state.close(server, task ? await task.close(server, reply) : reply),
      retry: sendAgain,
      ...(isHit && { isHit }),
      ...(isOpen && { takesOtherTypes: true }),
      ...(toResult && { toResult }),
    };
  }

  return async (viewer, request, context) => {
    const record = recordOf(ledger, viewer.caller, request, context);
    try {
      const routed = await record.watch(await relay(viewer, request, context, record));
      return noteReplaced(context, routed);
    } catch (thrown) {
      const error = await record.fail(thrown);
      noteFailed(context, error);
      throw error;
    }
  };
}
