/**
 * Chats: begin, continue, read, stop, delete. A chat belongs to the principal who began it; for everybody else it does not exist. For a
 * token with limits, a chat exists only if it was last run with the same limits, since it contains results of tools. The calls of a chat
 * are calls of its principal: access, limits and audit treat them like all others.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { hasLimits, hasScope } from '../../shared/identity/principal.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import type { ChatModel } from '../../models/chat-port.ts';
import { noModel } from '../../models/model-port.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { toEnding } from '../../telemetry/operation.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { leastOf, toApproval, toLimits } from './requested-limits.ts';
import { toChatView, type ChatView } from './chat-events.ts';
import { LEASE_MS, type ChatRecords, type Claim, type StoredChat } from './chat-records.ts';
import { runChat, type Watcher } from './chat-run.ts';
import type { BeginChat, ContinueChat } from './chat-schema.ts';
import type { ChatSettings } from './chat-settings.ts';
import {
  isStorable,
  NOTHING_SPENT,
  toFormat,
  type ChatState,
  type StopReason,
} from './chat-state.ts';
import { interrupted, restOf, toContinued, withMessage } from './continuing.ts';
import { stricter } from './deciding.ts';
import { findShown, type ChatCaller, type ToolPorts } from './shown-tools.ts';

export interface ChatPorts {
  records: ChatRecords;
  settings: ChatSettings;
  /** Undefined where the deployment has no model. */
  model: ChatModel | undefined;
  tools: ToolPorts;
  tracer: Tracer;
  now(): number;
}

/** A chat that is claimed and can run. It must be run. */
export interface ReadyChat {
  id: string;
  /** @param watcher gets the events of the run */
  run(watcher: Watcher): Promise<ChatView>;
}

/** Reasons to stop that are failures of the request, though the chat can be continued. */
const FAILURES: Partial<Record<StopReason, ErrorCode>> = {
  interrupted: 'model_failed',
  model_failed: 'model_failed',
  model_budget: 'model_budget',
  revoked: 'unauthorized',
};

/** Who reads or ends a chat. */
export type ChatReader = Pick<ChatCaller, 'caller' | 'waitUntil'>;

export class ChatService {
  readonly #ports: ChatPorts;

  constructor(ports: ChatPorts) {
    this.#ports = ports;
  }

  /** @throws PorticoError `forbidden`, `model_missing`, `validation_failed`, `rate_limited`, `busy` */
  async begin(chatCaller: ChatCaller, input: BeginChat): Promise<ReadyChat> {
    const { records, settings } = this.#ports;
    await this.#requireScopes(chatCaller, 'POST', chatCaller.source);
    const model = this.#model();
    const { toolset } = input.tools;
    if (toolset !== undefined && !chatCaller.caller.policy.toolset(toolset)) {
      throw fieldProblem('tools.toolset', 'there is no such toolset');
    }
    const empty: ChatState = {
      version: 1,
      format: model.dialect.format,
      model: model.name,
      messages: [],
      turn: [],
      log: [],
      lastCall: 0,
      spent: NOTHING_SPENT,
      limits: toLimits(input.limits, settings, model.costOf.bind(model)),
      approve: toApproval(input.approve, settings),
      only: input.tools,
      answer: '',
    };
    const state = ranBy(chatCaller.caller, withMessage(empty, input.message));
    await this.#ports.tools.gateway.spend(chatCaller.caller);
    const claim = await records.create(chatCaller.caller.principalId, state);
    if (!claim) throw tooMany();
    return this.#ready(chatCaller, claim, model, state);
  }

  /** @throws PorticoError as `begin`, and `not_found`, `conflict` where the chat runs, `payload_too_large` where it is full */
  async continue(chatCaller: ChatCaller, id: string, input: ContinueChat): Promise<ReadyChat> {
    const { records, settings } = this.#ports;
    await this.#requireScopes(chatCaller, 'POST', chatCaller.source);
    const found = await this.#find(chatCaller.caller, id);
    const model = this.#model();
    if (this.#isAlive(found)) throw runs();
    const state = ranBy(chatCaller.caller, this.#toGoOn(found, input, model));
    if (!isStorable(state)) {
      throw new PorticoError('payload_too_large', 'The chat is full; begin another one');
    }
    const approve = stricter(state.approve, settings.approval);
    await this.#ports.tools.gateway.spend(chatCaller.caller);
    const claim = await records.claim(found, { ...state, approve });
    if (!claim) throw runs();
    return this.#ready(chatCaller, claim, model, { ...state, approve });
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(reader: ChatReader, id: string): Promise<ChatView> {
    const { caller } = reader;
    await this.#requireScopes(reader, 'GET');
    return this.#toView(await this.#find(caller, id));
  }

  /**
   * Stops a running chat: the run ends within about a second, and the chat can be continued.
   * @throws PorticoError `forbidden`, `not_found`
   */
  async stop(reader: ChatReader, id: string): Promise<ChatView> {
    const { records } = this.#ports;
    const { caller } = reader;
    await this.#requireScopes(reader, 'POST');
    const found = await this.#find(caller, id);
    if (found.row.status !== 'running') return this.#toView(found);
    await records.requestStop(caller.principalId, id);
    if (this.#isAlive(found)) return this.#toView(found);
    // Its run is dead: clean up here.
    const state = interrupted(found.state, 'stopped');
    const claim = await records.claim(found, state);
    if (claim) await records.write(claim, restOf(state), state);
    return this.#toView(await this.#find(caller, id));
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async delete(reader: ChatReader, id: string): Promise<void> {
    const { caller } = reader;
    await this.#requireScopes(reader, 'DELETE');
    if (hasLimits(caller)) await this.#find(caller, id);
    if (!(await this.#ports.records.delete(caller.principalId, id))) throw noSuchChat();
  }

  #toGoOn(found: StoredChat, input: ContinueChat, model: ChatModel): ChatState {
    const { settings } = this.#ports;
    const rested = found.row.status === 'running' ? interrupted(found.state) : found.state;
    const state = toFormat(toContinued(rested, input), model.dialect.format, model.name);
    const costOf = model.costOf.bind(model);
    if (input.limits) return { ...state, limits: toLimits(input.limits, settings, costOf) };
    // The limits asked for at the beginning still apply, as far as the deployment allows them today.
    return { ...state, limits: leastOf(state.limits, toLimits({}, settings, costOf)) };
  }

  #ready(chatCaller: ChatCaller, claim: Claim, model: ChatModel, state: ChatState): ReadyChat {
    const { records, tools, tracer, now } = this.#ports;
    return {
      id: claim.id,
      async run(watcher) {
        chatCaller.operation?.is({ usesModel: true });
        // A streamed answer has its head before its outcome is known.
        const release = chatCaller.operation?.hold();
        try {
          const about = { chat: claim.id, model: model.name };
          const span = tracer.start('chat', about, chatCaller.waitUntil, chatCaller.traceparent);
          const shown = (current: ChatState) =>
            findShown(tools, chatCaller, model.dialect, current);
          const ports = { records, model, shown, now, span };
          const running = runChat(claim, state, ports, watcher, chatCaller.signal);
          // The caller may leave; the run still has to write its outcome.
          chatCaller.waitUntil(running.catch(() => {}));
          const view = await running;
          const code = view.stop_reason === null ? undefined : FAILURES[view.stop_reason];
          if (code !== undefined) chatCaller.operation?.ends(toEnding(code));
          return view;
        } catch (thrown) {
          chatCaller.operation?.ends(toEnding(toPorticoError(thrown).code));
          throw thrown;
        } finally {
          release?.();
        }
      },
    };
  }

  #model(): ChatModel {
    const { model } = this.#ports;
    if (model) return model;
    throw noModel();
  }

  async #find(caller: Caller, id: string): Promise<StoredChat> {
    const found = await this.#ports.records.find(caller.principalId, id);
    if (!found || (hasLimits(caller) && found.state.within !== caller.policy.limits)) {
      throw noSuchChat();
    }
    return found;
  }

  /** Whether a run has a valid lease. */
  #isAlive({ row }: StoredChat): boolean {
    return row.status === 'running' && row.leasedUntil > this.#ports.now();
  }

  #toView(found: StoredChat): ChatView {
    const { row, state } = found;
    if (row.status !== 'running') return toChatView(row.id, row.status, state);
    if (this.#isAlive(found)) return toChatView(row.id, 'running', state);
    const left = interrupted(state);
    return toChatView(row.id, restOf(left), left);
  }

  /** Checks the scopes; a refusal is recorded like those of calls. @throws PorticoError `forbidden` */
  async #requireScopes(
    { caller, waitUntil }: ChatReader,
    verb: string,
    source: ChatCaller['source'] = 'rest',
  ): Promise<void> {
    const scope = (['tools:call', 'tools:read'] as const).find(each => !hasScope(caller, each));
    if (scope === undefined) return;
    const thrown = new PorticoError('forbidden', `This needs a token with the scope ${scope}`);
    const [method, subject] = source === 'rest' ? ['rest.chat', verb] : ['tools/call', 'chat'];
    const refusal = { method, subject, thrown, source };
    await this.#ports.tools.gateway.refused(caller, refusal, waitUntil);
    throw thrown;
  }
}

/** Notes the limits of the caller's token in the state. */
function ranBy(
  { policy: { limits } }: Caller,
  { within: _before, ...state }: ChatState,
): ChatState {
  return limits === '' ? state : { ...state, within: limits };
}

const noSuchChat = () => new PorticoError('not_found', 'No such chat');
const retryAfterSeconds = Math.ceil(LEASE_MS / 1_000);
const runs = () =>
  new PorticoError('conflict', 'The chat is running, or was just changed', { retryAfterSeconds });
const tooMany = () =>
  new PorticoError('busy', 'Too many of your chats are running; wait until one ends, or stop one', {
    retryAfterSeconds,
  });
