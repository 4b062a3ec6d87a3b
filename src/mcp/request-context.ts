/** What the handlers of MCP work with for one request. */
import type { EndpointViewer } from './endpoint.ts';
import type { QuestionLine } from '../sessions/question-channel.ts';
import type { ChatService } from '../agents/chat/chat-service.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { Streams } from '../sessions/streams.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { LogLevel } from '../shared/protocol.ts';
import type { AskService } from '../agents/ask/ask-service.ts';
import type { CacheDirective } from '../gateway/cache/cache-control.ts';
/** A caller on an endpoint. */
export interface CallerContext {
  viewer: EndpointViewer;
  /** Which log messages the client of a legacy session wants; absent where servers may decide. */
  logLevel?: LogLevel | undefined;
}

/** What the handlers of either era work with for one request. */
export interface RequestContext {
  viewer: EndpointViewer;
  gateway: Gateway;
  ask: Pick<AskService, 'ask'>;
  chats: ChatPort;
  context: CallContext;
  streams: Streams;
  /** What a stream that stays open needs. */
  listening: {
    keepAliveMs: number;
    /** Counts a stream. @returns to be called when it is over @throws PorticoError `busy` */
    open(): () => void;
    /** Waits until a stream may be opened. @returns to be called when it is open, or never will be @throws PorticoError `busy` */
    turn(): Promise<() => void>;
    /** Who calls and what the endpoint comes to by now. @throws PorticoError where that is nobody or nothing */
    now(): Promise<CallerContext>;
  };
  /** The parsed body is not needed any more; absent where other requests came with it. */
  dropParsed?: () => void;
  /** The revision that the legacy session agreed on; absent where the request is in none. */
  version?: string | undefined;
  /** Name of the object of the legacy session; absent where the request is in none. */
  sessionObject?: string;
  pageSize: number;
  acceptsStream: boolean;
  /** Opens the way on which a legacy client's answers come back; absent where it cannot be asked. */
  openLine?: (() => Promise<QuestionLine>) | undefined;
  /** Reads the mirrored headers of a modern request. */
  readHeader?: (name: string) => string | null;
  /** Which log messages the client gets; absent where servers may decide. */
  logLevel?: LogLevel | 'none' | undefined;
  /** What the request's headers say of results of before. */
  cache?: CacheDirective | undefined;
  /** Remembers the level of the client's session; absent where it has none. */
  setLogLevel?: (level: LogLevel) => Promise<void>;
}

export type ChatPort = Pick<ChatService, 'begin' | 'continue' | 'get'>;
