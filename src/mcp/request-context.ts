/** What the MCP handlers work with for one request. */
import type { EndpointViewer } from './endpoint.ts';
import type { QuestionChannel } from '../sessions/question-channel.ts';
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
  /** Least severe log messages that the client of a legacy session wants; absent where servers may decide. */
  logLevel?: LogLevel | undefined;
}

/** What the handlers of both eras work with for one request. */
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
    /** Counts a stream. @returns a function to call when the stream has ended @throws PorticoError `busy` */
    open(): () => void;
    /** Waits until a stream may be opened. @returns a function to call once it is open or never will be @throws PorticoError `busy` */
    turn(): Promise<() => void>;
    /** The caller and its view of the endpoint as they are now. @throws PorticoError where the credential or the endpoint is gone */
    now(): Promise<CallerContext>;
  };
  /** Drops the parsed body, which is no longer needed; absent where other requests came in the same body. */
  dropParsed?: () => void;
  /** Revision that the legacy session negotiated; absent outside a session. */
  version?: string | undefined;
  /** Name of the legacy session's object; absent outside a session. */
  sessionObject?: string;
  pageSize: number;
  acceptsStream: boolean;
  /** Opens the channel for a legacy client's answers to server requests; absent where the client cannot answer any. */
  openChannel?: (() => Promise<QuestionChannel>) | undefined;
  /** Reads the mirrored headers of a modern request. */
  readHeader?: (name: string) => string | null;
  /** Least severe log messages that the client gets; absent where servers may decide. */
  logLevel?: LogLevel | 'none' | undefined;
  /** Cache directive from the request's headers. */
  cache?: CacheDirective | undefined;
  /** Stores the log level of the client's session; absent where it has none. */
  setLogLevel?: (level: LogLevel) => Promise<void>;
}

export type ChatPort = Pick<ChatService, 'begin' | 'continue' | 'get'>;
