/** The record of a newly registered server. Pure. */
import type { Credential } from '../../credentials/credential-schema.ts';
import type { CreateServer, Server, TransportType } from './server-schema.ts';

/** A registration, whatever the transport. */
export type ServerInput = Omit<CreateServer, 'transport_type'> & { transport_type: TransportType };

/** @param now milliseconds since the epoch */
export function toNewServer(
  id: string,
  input: ServerInput,
  credential: Credential,
  now: number,
): Server {
  return {
    id,
    name: input.name,
    description: input.description,
    transportType: input.transport_type,
    url: input.connection_config.url,
    credential,
    healthCheckUrl: input.health_check_url ?? null,
    healthSettings: input.health_check ?? {},
    autoConnect: input.auto_connect,
    toolApproval: input.tool_approval ?? null,
    accounts: input.accounts,
    status: input.auto_connect ? 'CONNECTING' : 'DISCONNECTED',
    lastError: null,
    verdict: null,
    catalogHash: null,
    toolCount: 0,
    registeredAt: now,
    updatedAt: now,
    disconnectedAt: null,
    circuitRetryAt: null,
    approvalsStamp: null,
    heldTools: 0,
    skillsRevision: 0,
    taxonomyRevision: 0,
    cacheRules: [],
    revision: 1,
    generation: 1,
  };
}
