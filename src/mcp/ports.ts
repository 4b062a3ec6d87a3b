/** What the MCP endpoints need of the gateway. */
import type { QuestionLine } from '../session/question-line.ts';
import type { Snapshots } from '../access/snapshots.ts';
import { type Snapshot } from '../access/snapshots.ts';
import type { Cancellations } from '../session/cancellations.ts';
import type { StreamCount } from '../limits/stream-count.ts';
import type { Streams } from '../session/streams.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RequestId } from '../protocol.ts';
import type { RawAnswer } from '../upstream/question.ts';
import type { AskService } from '../ask/ask-service.ts';
import type { Config } from '../config.ts';
import type { Drain } from '../http/drain.ts';
import type { BytesInFlight } from '../limits/bytes-in-flight.ts';
import type { ChatPort } from './exchange.ts';
export interface McpPorts {
  config: Config;
  snapshots: Snapshots;
  gateway: Gateway;
  ask: Pick<AskService, 'ask'>;
  chats: ChatPort;
  sessions: Sessions;
  streams: Streams;
  cancellations: Cancellations;
  bytes: BytesInFlight;
  drain: Pick<Drain, 'check'>;
  openStreams: Pick<StreamCount, 'open' | 'turn'>;
  /** What a session's object does for questions. */
  upstreamSessions: {
    openLine(owner: string, timeoutMs: number): Promise<QuestionLine>;
    passAnswer(owner: string, id: RequestId, answer: RawAnswer): Promise<boolean>;
  };
  /** End what a session has at its upstreams; nobody waits for it. */
  endUpstreams(owner: string, snapshot: Snapshot): Promise<void>;
}
