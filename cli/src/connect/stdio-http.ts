/**
 * Streamable HTTP adapter for one stdio server: requests that the gateway sends through a connector are answered by one shared child. This
 * file reads a request and waits for a run; the adapter of the child's era handles it. Clients that lack a capability the program asks for
 * may be served by a child of their kind (`kinds.ts`), legacy clients of a modern child by one of their era (`legacy-side.ts`).
 *
 * Invariants: `handle` never throws; a call is passed to a child at most once; a response comes from the child, except for errors that say
 * why there is none.
 */
import { type HttpAnswer, type HttpRequest, SESSION_HEADER } from './http-message.ts';
import { isObject, RPC, type Era } from '../../../src/shared/protocol.ts';
import type { ClientFeature } from '../../../src/shared/client-capabilities.ts';
import { plainAnswer } from './answer.ts';
import type { Child, ChildSpec } from './child.ts';
import type { ChildCapability } from './config.ts';
import { errorText, readMessage, type ChildMessage } from './child-message.ts';
import { Room } from './event-stream.ts';
import { KeptChild } from './kept-child.ts';
import type { NegotiatedProtocol } from './handshake.ts';
import { Kinds } from './kinds.ts';
import { LegacyAdapter, SESSION_UNKNOWN } from './legacy-adapter.ts';
import { LegacySide } from './legacy-side.ts';
import { LIMITS, type Limits } from './limits.ts';
import { ModernAdapter } from './modern-adapter.ts';
import { ASKING } from './server-requests.ts';
import type { StartQueue } from './start-queue.ts';
import { ToolFilter, type ToolRules } from './tool-filter.ts';

/** Answers requests of MCP Streamable HTTP for one server. Never throws; a failure is a status with a JSON-RPC error. */
export interface HttpAdapter {
  handle(request: HttpRequest): Promise<HttpAnswer>;
}

export interface StdioServerOptions {
  spec: ChildSpec;
  tools?: ToolRules;
  /** The client capabilities that a legacy child is told, for all clients, with one child; absent: each client's own. */
  capabilities?: readonly ChildCapability[];
  /** The only era to use with the child; absent: it is probed, and a child of both eras uses each client's own. */
  era?: Era;
  limits?: Partial<Limits>;
  starts?: StartQueue | undefined;
  /** Called when a discovery would find more than before. */
  onEvent?: (() => void) | undefined;
}

/** Options of a child that is started beside a modern one. */
interface Beside {
  /** The client capabilities it is told: exactly these. */
  features: readonly ClientFeature[];
  room: Room;
}

type Adapter = LegacyAdapter | ModernAdapter;

const CAPABILITIES = ['roots', 'sampling', 'elicitation'] as const;
/** The client capabilities that each name in the configuration stands for. */
const FEATURES: Readonly<Record<ChildCapability, readonly ClientFeature[]>> = {
  roots: ['roots'],
  sampling: ['sampling'],
  elicitation: ['elicitation.form', 'elicitation.url'],
};

/** A stdio server that is kept running, with its adapter. */
export class StdioServer implements HttpAdapter {
  /** The shared child. */
  readonly child: KeptChild<Adapter>;
  readonly #limits: Limits;
  readonly #tools: ToolFilter;
  /** Undefined where the configuration fixes the capabilities. */
  readonly #kinds: Kinds<Adapter> | undefined;
  /** Undefined where the configuration fixes the era or the capabilities. */
  readonly #legacySide: LegacySide | undefined;

  /** @param beside set for a child that is the legacy side of another */
  constructor(options: StdioServerOptions, beside?: Beside) {
    const { spec, tools, capabilities, era, limits, starts, onEvent } = options;
    this.#limits = { ...LIMITS, ...limits };
    this.#tools = new ToolFilter(tools);
    const room = beside?.room ?? new Room(this.#limits);
    const onAsked = (feature: ClientFeature) => this.#kinds?.noteAsked(feature);
    const shared = { room, limits: this.#limits, tools: this.#tools, onAsked };
    const common = {
      spec,
      limits: this.#limits,
      starts,
      open: (child: Child, protocol: NegotiatedProtocol) =>
        protocol.era === 'modern'
          ? new ModernAdapter({ child, ...shared })
          : new LegacyAdapter({ child, ...shared }, protocol.initialized),
    };
    const told = beside?.features ?? (capabilities ?? CAPABILITIES).flatMap(name => FEATURES[name]);
    this.child = new KeptChild<Adapter>({ ...common, features: told, ...(era ? { era } : {}) });
    if (capabilities) return;
    const start = (features: readonly ClientFeature[]) =>
      new KeptChild<Adapter>({ ...common, features, era: 'legacy' });
    const isExact = beside !== undefined;
    this.#kinds = new Kinds<Adapter>({ told, isExact, limits: this.#limits, start });
    if (era) return;
    this.#legacySide = new LegacySide({
      limits: this.#limits,
      start: features => new StdioServer({ ...options, era: 'legacy' }, { features, room }),
      onReady: () => onEvent?.(),
    });
  }

  /** A client waits for a child. */
  get isBusy(): boolean {
    return this.child.running?.isBusy === true || this.#kinds?.isBusy === true;
  }

  /** A client is subscribed to a resource of the child. */
  get isSubscribed(): boolean {
    return this.child.running?.isSubscribed === true;
  }

  /** Whether a legacy client's session is open at a child. */
  hasSession(id: string): boolean {
    const adapter = this.#kinds?.holding(id) ?? this.child.running;
    return adapter?.capabilitiesOf(id) !== undefined;
  }

  /** Stops every child for good. Settles when all are gone. */
  async stop(): Promise<void> {
    await Promise.all([this.child.stop(), this.#kinds?.stop(), this.#legacySide?.stop()]);
  }

  /** Kills at once, for a process that is about to exit itself. */
  kill(): void {
    this.child.kill();
    this.#kinds?.kill();
    this.#legacySide?.kill();
  }

  async handle(request: HttpRequest): Promise<HttpAnswer> {
    try {
      return await this.#handle(request);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return plainAnswer(500, errorText('null', RPC.internalError, message));
    }
  }

  async #handle(request: HttpRequest): Promise<HttpAnswer> {
    const { method, body } = request;
    let message: ChildMessage | undefined;
    if (method === 'POST') {
      if (body.length > this.#limits.bodyBytes) {
        return plainAnswer(413, errorText('null', RPC.invalidRequest, 'The body is too large'));
      }
      message = readMessage(new TextDecoder().decode(body));
      if (!message) {
        const text = 'The body is not a JSON-RPC message';
        return plainAnswer(400, errorText('null', RPC.invalidRequest, text));
      }
    }
    return this.answer(request, message);
  }

  /** Answers a request with a parsed body. */
  async answer(request: HttpRequest, message: ChildMessage | undefined): Promise<HttpAnswer> {
    const side = this.#legacySide;
    const isHeld = side?.holds(request) === true;
    const adapter = isHeld ? undefined : await this.#adapterFor(request, message);
    if (side && (isHeld || adapter instanceof ModernAdapter)) {
      const answer = await side.answer(request, message);
      if (answer) return answer;
    }
    const rawId = (message?.kind === 'request' ? message.raw.get('id') : undefined) ?? 'null';
    if (!adapter) {
      const failure = this.child.trouble;
      return { ...plainAnswer(503, errorText(rawId, RPC.internalError, failure)), failure };
    }
    if (message?.kind === 'request' && message.method === 'tools/call') {
      const name = String(message.params['name']);
      if (!this.#tools.allows(name)) {
        return plainAnswer(200, errorText(rawId, RPC.invalidParams, `Unknown tool: ${name}`));
      }
    }
    if (await this.#isMoved(adapter, request, message)) return plainAnswer(404, SESSION_UNKNOWN);
    return adapter.handle(request, message);
  }

  /** The process of the request's session; for a new session that of its client's kind, if there is one. */
  async #adapterFor(
    { headers, signal }: HttpRequest,
    message: ChildMessage | undefined,
  ): Promise<Adapter | undefined> {
    const session = headers[SESSION_HEADER];
    const isOpening = message?.kind === 'request' && message.method === 'initialize';
    const declared = isOpening ? message.params['capabilities'] : undefined;
    const ofKind = isOpening
      ? await this.#kinds?.opening(isObject(declared) ? declared : {}, signal)
      : this.#kinds?.holding(session ?? '');
    return ofKind ?? this.child.adapter(signal);
  }

  /**
   * Whether a call belongs to another process than its session. No child has seen it; the 404 makes the client repeat it in a new session.
   */
  async #isMoved(
    adapter: Adapter,
    { headers, signal }: HttpRequest,
    message: ChildMessage | undefined,
  ): Promise<boolean> {
    if (!this.#kinds || message?.kind !== 'request' || !ASKING.has(message.method)) return false;
    if (adapter !== this.child.running) {
      this.#kinds.used(adapter);
      return false;
    }
    const id = headers[SESSION_HEADER] ?? '';
    const capabilities = adapter.capabilitiesOf(id) ?? this.#kinds.goneCapabilitiesOf(id);
    return capabilities !== undefined && this.#kinds.provide(capabilities, signal);
  }
}
