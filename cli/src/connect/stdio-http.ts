/**
 * A Streamable HTTP face on top of one stdio server: what the gateway sends down a connector is answered from one shared child.
 * Here a request is read and its run waited for; what it means is for the face of the child's era.
 *
 * Invariants: `handle` never throws; a call is given to a child once at most; a response is the child's own, but for errors that
 * say why there is none.
 */
import { RPC } from '../../../src/protocol.ts';
import { plainAnswer } from './answer.ts';
import type { ChildSpec } from './child.ts';
import type { ChildCapability } from './config.ts';
import { errorText, readMessage, type ChildMessage } from './child-message.ts';
import { Room } from './event-stream.ts';
import { KeptChild } from './kept-child.ts';
import { LegacyFace } from './legacy-face.ts';
import { LIMITS, type Limits } from './limits.ts';
import { ModernFace } from './modern-face.ts';
import type { StartQueue } from './start-queue.ts';
import { ToolFilter, type ToolRules } from './tool-filter.ts';

export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Aborts when the client has hung up, also while the answer is read. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  /** Ends with the answer; the reader may stop early. */
  body: AsyncIterable<Uint8Array>;
  /** Why there is nobody to answer, for people: the request reached no program. */
  failure?: string;
}

/** Answers requests of MCP Streamable HTTP for one server. Never throws; a failure is a status with a JSON-RPC error. */
export interface HttpFace {
  handle(request: HttpRequest): Promise<HttpAnswer>;
}

export interface StdioServerOptions {
  spec: ChildSpec;
  tools?: ToolRules;
  /** What a legacy child is told that its clients have; all where absent. */
  capabilities?: readonly ChildCapability[];
  limits?: Partial<Limits>;
  starts?: StartQueue | undefined;
}

type Face = LegacyFace | ModernFace;

/** A stdio server that is kept running, and its face. */
export class StdioServer implements HttpFace {
  /** The child: its states, and how it ends. */
  readonly child: KeptChild<Face>;
  readonly #limits: Limits;
  readonly #tools: ToolFilter;

  constructor({ spec, tools, capabilities, limits, starts }: StdioServerOptions) {
    this.#limits = { ...LIMITS, ...limits };
    this.#tools = new ToolFilter(tools);
    const room = new Room(this.#limits);
    const shared = { room, limits: this.#limits, tools: this.#tools };
    this.child = new KeptChild<Face>({
      spec,
      limits: this.#limits,
      starts,
      ...(capabilities ? { capabilities } : {}),
      open: (child, manner) =>
        manner.era === 'modern'
          ? new ModernFace({ child, ...shared })
          : new LegacyFace({ child, ...shared }, manner.initialized),
    });
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
    const { method, body, signal } = request;
    let message: ChildMessage | undefined;
    if (method === 'POST') {
      if (body.length > this.#limits.bodyBytes) {
        return plainAnswer(413, errorText('null', RPC.invalidRequest, 'The body is too large'));
      }
      message = readMessage(new TextDecoder().decode(body));
      if (!message) {
        const text = 'The body is no JSON-RPC message';
        return plainAnswer(400, errorText('null', RPC.invalidRequest, text));
      }
    }
    const face = await this.child.face(signal);
    const rawId = (message?.kind === 'request' ? message.raw.get('id') : undefined) ?? 'null';
    if (!face) {
      const failure = this.child.trouble;
      return { ...plainAnswer(503, errorText(rawId, RPC.internalError, failure)), failure };
    }
    if (message?.kind === 'request' && message.method === 'tools/call') {
      const name = String(message.params['name']);
      if (!this.#tools.allows(name)) {
        return plainAnswer(200, errorText(rawId, RPC.invalidParams, `Unknown tool: ${name}`));
      }
    }
    return face.handle(request, message);
  }
}
