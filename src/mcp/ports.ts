/** What the MCP endpoints need from the rest of the gateway. */
import type { QuestionChannel } from '../sessions/question-channel.ts';
import type { Snapshots } from '../access/admission/snapshots.ts';
import { type Snapshot } from '../access/admission/snapshots.ts';
import type { Cancellations } from '../sessions/cancellations.ts';
import type { StreamCount } from '../shared/limits/stream-count.ts';
import type { Streams } from '../sessions/streams.ts';
import type { Sessions } from '../access/admission/sessions.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RequestId } from '../shared/protocol.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { AskService } from '../agents/ask/ask-service.ts';
import type { Config } from '../config.ts';
import type { Drain } from '../http/drain.ts';
import type { BytesInFlight } from '../shared/limits/bytes-in-flight.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ChatPort } from './request-context.ts';

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
  /** Absent where the deployment has no drain. */
  drain: Pick<Drain, 'check'> | undefined;
  telemetry: Pick<Telemetry, 'begin'>;
  openStreams: Pick<StreamCount, 'open' | 'turn'>;
  /** What a session's object does for server requests. */
  upstreamSessions: {
    openQuestionChannel(owner: string, timeoutMs: number): Promise<QuestionChannel>;
    passAnswer(owner: string, id: RequestId, answer: RawAnswer): Promise<boolean>;
  };
  /** Ends a session's sessions at its upstreams; nothing waits for it. */
  endUpstreams(owner: string, snapshot: Snapshot): Promise<void>;
}
