/** The chats of a deployment, put together of its parts. */
import type { ChatModel } from '../../models/chat-port.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { ChatRecords } from './chat-records.ts';
import { ChatService } from './chat-service.ts';
import type { ChatSettings } from './chat-settings.ts';
import type { ToolPorts } from './shown-tools.ts';

export interface CreateChat {
  db: D1Database;
  keys: KeyRing;
  settings: ChatSettings;
  /** Undefined where the deployment has none. */
  model: ChatModel | undefined;
  tools: ToolPorts;
  tracer: Tracer;
}

export function createChats({ db, keys, settings, ...rest }: CreateChat): ChatService {
  const now = () => Date.now();
  const { keptMs, maxKept } = settings;
  const records = new ChatRecords({ db, keys, keptMs, maxKept, now });
  return new ChatService({ records, settings, now, ...rest });
}
