/** Creates the agents: ask with its allow-list, and chats. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Models } from '../models/create-models.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { createAllowlist } from './ask/allowlist-service.ts';
import { listAllowed } from './ask/allowlist-store.ts';
import { AskService } from './ask/ask-service.ts';
import type { AskSettings } from './ask/ask-settings.ts';
import { ChatRecords } from './chat/chat-records.ts';
import { ChatService } from './chat/chat-service.ts';
import type { ChatSettings } from './chat/chat-settings.ts';
import { listForModel, MODEL_NAMING, runCalls } from './run-calls.ts';

export interface AgentDeps {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  gateway: Gateway;
  models: Models;
  tracer: Tracer;
  config: { ask: AskSettings; chat: ChatSettings };
  now(): number;
}

export function createAgents({ db, adminAudit, models, config, now, ...deps }: AgentDeps) {
  const { gateway, tracer, keys } = deps;
  const { keptMs, maxKept } = config.chat;
  return {
    ask: new AskService({
      gateway,
      model: models.chat('ask'),
      tracer,
      settings: config.ask,
      allowedTo: principalId => listAllowed(db, principalId),
      now,
    }),
    askAllowlist: createAllowlist({ db, adminAudit }),
    chats: new ChatService({
      records: new ChatRecords({ db, keys, keptMs, maxKept, now }),
      settings: config.chat,
      model: models.chat('chat'),
      tools: { gateway, naming: MODEL_NAMING, listForModel, runCalls },
      tracer,
      now,
    }),
  };
}
