/**
 * Ask: one request in words, at most one call. Its stages in order, each with one result and one span: input, candidates, plan, guard,
 * call, typed, summary. A model plans and sums up; it executes nothing. The decisions are pure (`input-policy.ts`, `request-guard.ts`,
 * `check-output.ts`, `evidence.ts`), and rest on what the caller sees and the operator allows when the decision is made, not when the model
 * was asked.
 *
 * Invariants: nothing is dispatched before the guard allowed it; a dispatched call is never sent again; the call goes through the gateway
 * like any other, within visible servers that hold only the allowed tools.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { DOT_NAMING, type CallerView } from '../../gateway/viewer.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { ChatModel } from '../../models/chat-port.ts';
import { noModel, toModelError } from '../../models/model-port.ts';
import { MAX_QUERY_CHARS } from '../../search/rank/limits.ts';
import type { Era, JsonObject } from '../../shared/protocol.ts';
import type { Span, Tracer } from '../../tracing/tracer.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import type { AllowEntry } from './allow-list.ts';
import { askModel } from './ask-model.ts';
import type { AskOutcome, AskReason } from './ask-schema.ts';
import type { AskSettings } from './ask-settings.ts';
import { AskMeter } from './budget.ts';
import { callOnce } from './call-once.ts';
import { decidePlan, type GuardedTool, type GuardVerdict } from './request-guard.ts';
import { decideInput } from './input-policy.ts';
import { allowedServers, namesOf, toGuarded } from './live-tools.ts';
import { planSchemaOf } from './plan.ts';
import { PLAN_SYSTEM, toCandidates, toPlanMessage } from './prompt.ts';
import { allowed, decisionOf, guardDecision, REASON_TEXTS, refused } from './reasons.ts';
import { sumUp } from './sum-up.ts';
import { decideTyped } from './check-output.ts';

export interface AskPorts {
  gateway: Gateway;
  /** Returns the allow-list entries that apply to a principal. */
  allowedTo(principalId: string): Promise<readonly AllowEntry[]>;
  /** Undefined where the deployment has no model. */
  model: ChatModel | undefined;
  tracer: Tracer;
  settings: AskSettings;
  now(): number;
}

/** One request; {@link CallerView} is who asks, and within what. */
export interface AskInput extends CallerView {
  request: string;
  summarize: boolean;
  dryRun: boolean;
  source: Era | 'rest';
  context: Pick<CallContext, 'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes' | 'operation'>;
  /** Returns the caller and what it sees now. @throws PorticoError where the caller or its endpoint is gone */
  again(): Promise<CallerView>;
  /** A `traceparent` of the caller's own trace. */
  parent?: string | undefined;
}

/** The outcome so far. */
type Ended = Omit<AskOutcome, 'traceId' | 'usage'>;
type Live = CallerView & { entries: readonly AllowEntry[]; shown: readonly ListedItem[] };

/** Most tools that a model chooses from; of more, those that fit the request best. */
const MAX_CANDIDATES = 24;
const MAX_PLAN_TOKENS = 2_048;
const MAX_MESSAGE_CHARS = 300;

export class AskService {
  readonly #ports: AskPorts;

  constructor(ports: AskPorts) {
    this.#ports = ports;
  }

  /**
   * @throws PorticoError `forbidden`; `rate_limited`; `model_missing`, `model_failed`, `model_budget` where there is no plan to judge;
   * whatever `again` throws
   */
  async ask(input: AskInput): Promise<AskOutcome> {
    const { tracer, model, now } = this.#ports;
    requireScope(input.caller, 'tools:read');
    requireScope(input.caller, 'tools:call');
    if (!model) throw noModel();
    input.context.operation?.is({ usesModel: true });
    const meter = new AskMeter(now);
    const facts = { door: input.source, model: model.name, dry_run: input.dryRun };
    const span = tracer.start('ask', facts, work => input.context.waitUntil(work), input.parent);
    try {
      const ended = await this.#run(input, model, meter, span);
      span.end({ decision: decisionOf(ended.verdict) });
      const { elapsedMs, ...used } = meter.spent;
      const usage = { model: model.name, ...used, elapsedMs, cost: meter.cost };
      return { ...ended, traceId: span.traceId, usage };
    } catch (thrown) {
      const error = toModelError(thrown);
      span.end({ error: error instanceof PorticoError ? error.code : 'internal' });
      throw error;
    }
  }

  async #run(input: AskInput, model: ChatModel, meter: AskMeter, span: Span): Promise<Ended> {
    const { input: rules, most } = this.#ports.settings;
    const unfit = staged(span, 'ask.input', () => decideInput(input.request, rules));
    if (unfit) return refused('input', unfit);

    const candidates = await this.#candidates(input, span);
    if (candidates.length === 0) return refused('candidates', 'nothing_allowed');

    await this.#ports.gateway.spend(input.caller);
    const planning = span.child('ask.plan', { candidates: candidates.length });
    const answer = await askModel(
      model,
      {
        system: PLAN_SYSTEM,
        message: toPlanMessage(input.request, candidates, nonce()),
        answer: {
          name: 'plan',
          schema: planSchemaOf(
            candidates.map(({ server }) => server),
            candidates.map(({ tool }) => tool),
          ),
        },
        maxTokens: MAX_PLAN_TOKENS,
      },
      meter,
      most,
      input.context.signal,
    ).catch((thrown: unknown) => {
      planning.end({
        error: toModelError(thrown) instanceof PorticoError ? 'model_failed' : 'internal',
      });
      throw thrown;
    });
    planning.set({ tokens: meter.spent.tokens });
    planning.end({ decision: 'reason' in answer ? `refused:${answer.reason}` : 'planned' });
    if ('reason' in answer) return refused('budget', answer.reason);

    const guarding = span.child('ask.guard');
    const live = await this.#live(input);
    const verdict = this.#guard(answer.text, live, meter);
    guarding.set(verdict.decision !== 'no_tool' && verdict.tool ? namesOf(verdict.tool) : {});
    guarding.end({ decision: guardDecision(verdict) });
    if (verdict.decision === 'no_tool') {
      const decided = { decision: 'no_tool', stage: 'plan', reason: 'no_tool_fits' } as const;
      return { verdict: { ...decided, message: toOneLine(verdict.reason, MAX_MESSAGE_CHARS) } };
    }
    const plan = verdict.tool &&
      verdict.plan && { ...namesOf(verdict.tool), args: verdict.plan.args };
    if (verdict.decision === 'refused') {
      await this.#record(live.caller, verdict, input);
      const ended = refused(verdict.stage, verdict.reason, verdict.detail);
      return plan ? { ...ended, plan } : ended;
    }
    const ended = { plan: { ...namesOf(verdict.tool), args: verdict.plan.args } };
    if (input.dryRun) return { verdict: allowed('dry_run'), ...ended };
    return {
      ...ended,
      ...(await this.#act(input, live, verdict.tool, verdict.plan.args, model, meter, span)),
    };
  }

  /** Returns the tools that a model may choose from: what the caller sees and the operator allows. */
  async #candidates({ caller, visible, request }: AskInput, span: Span) {
    const choosing = span.child('ask.candidates');
    const entries = await this.#ports.allowedTo(caller.principalId);
    const effective = allowedServers(visible, entries);
    const viewer = { caller, visible: effective, naming: DOT_NAMING };
    const { items } = await this.#ports.gateway.list(viewer, 'tools');
    const query = { query: request.slice(0, MAX_QUERY_CHARS), limit: MAX_CANDIDATES };
    const chosen =
      items.length <= MAX_CANDIDATES
        ? items
        : (await this.#ports.gateway.search(viewer, query)).hits;
    const candidates = toCandidates(chosen);
    choosing.set({ allowed: items.length, candidates: candidates.length });
    choosing.end({ decision: candidates.length === 0 ? 'refused:nothing_allowed' : 'chosen' });
    return candidates;
  }

  /** Returns what applies now: rights may have been lost while the model answered. */
  async #live(input: AskInput): Promise<Live> {
    const { caller, visible } = await input.again();
    const entries = await this.#ports.allowedTo(caller.principalId);
    const viewer = { caller, visible, naming: DOT_NAMING };
    const { items } = await this.#ports.gateway.list(viewer, 'tools');
    return { caller, visible, entries, shown: items };
  }

  #guard(text: string, { shown, entries }: Live, meter: AskMeter): GuardVerdict {
    const find = (server: string, tool: string): GuardedTool | undefined => {
      const found = shown.find(listed => listed.server.name === server && listed.item.key === tool);
      return found && toGuarded(found);
    };
    return decidePlan(text, { find, entries, spent: meter.spent, most: this.#ports.settings.most });
  }

  /** Makes the one call and evaluates its result. */
  async #act(
    input: AskInput,
    { caller, visible, entries, shown }: Live,
    tool: GuardedTool,
    args: JsonObject,
    model: ChatModel,
    meter: AskMeter,
    span: Span,
  ): Promise<Ended> {
    const { gateway, settings } = this.#ports;
    const calling = span.child('ask.call', namesOf(tool));
    meter.call();
    const called = await callOnce(gateway, {
      caller,
      visible: allowedServers(visible, entries),
      tool,
      args,
      source: input.source,
      context: input.context,
      leftMs: settings.most.elapsedMs - meter.spent.elapsedMs,
    });
    calling.end('code' in called ? { error: called.code } : { decision: 'called' });
    if ('code' in called) return { verdict: allowed('call_failed'), error: called };
    const { raw, result } = called;
    const definition = shown.find(
      ({ server, item }) => server.id === tool.server.id && item.key === tool.tool,
    );
    const promised = definition?.item.raw.get('outputSchema');
    const typing = span.child('ask.typed');
    const schema: unknown = promised === undefined ? undefined : JSON.parse(promised);
    const typed = decideTyped(schema, result);
    typing.end({ decision: typed.status });
    const done = { verdict: allowed('called'), result: raw, typed };
    if (!input.summarize) return done;
    const summing = span.child('ask.summary');
    const { signal } = input.context;
    const summary = await sumUp(input.request, result, {
      model,
      meter,
      signal,
      most: settings.most,
    });
    summing.set({ claims: summary.claims.length, dropped: summary.dropped });
    summing.end({ decision: summary.problem ?? 'summed_up' });
    return { ...done, summary };
  }

  /** Records a refused plan in the audit; without the name of a tool that the caller does not see. */
  async #record(
    caller: Caller,
    verdict: GuardVerdict,
    { source, context }: AskInput,
  ): Promise<void> {
    if (verdict.decision !== 'refused') return;
    const { tool, reason } = verdict;
    const subject = tool ? `${tool.server.name}.${tool.tool}` : '';
    const thrown = new PorticoError('forbidden', REASON_TEXTS[reason]);
    const refusal = { method: 'ask', subject, thrown, source };
    await this.#ports.gateway.refused(caller, refusal, context.waitUntil);
  }
}

/** Runs one stage without I/O. */
function staged(span: Span, name: string, decide: () => AskReason | undefined) {
  const stage = span.child(name);
  const reason = decide();
  stage.end({ decision: reason === undefined ? 'allowed' : `refused:${reason}` });
  return reason;
}

const nonce = () => crypto.randomUUID().replaceAll('-', '');
