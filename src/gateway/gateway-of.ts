/** Builds the gateway from its ports. Every function first decides whether the caller may use it and what the caller sees. */
import { hasScope, requireScope } from '../shared/identity/principal.ts';
import { createCall, type CallPorts } from './call.ts';
import type { Gateway } from './gateway.ts';
import { createLists, type ListPorts } from './lists.ts';
import { noteRefusal } from './steps/record.ts';
import { restrict } from './steps/restrict.ts';
import { createTasks, type TaskPorts } from './steps/tasks.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { Viewer } from './viewer.ts';

export interface GatewayPorts extends ListPorts, TaskPorts, Omit<CallPorts, 'lists' | 'tasks'> {
  /** Called with the servers that a caller lists or searches, as it sees them. Nothing waits for it. */
  onListed(servers: readonly Server[]): void;
}

/** @param ports what the gateway reads and calls */
export function gatewayOf(ports: GatewayPorts): Gateway {
  const { ledger } = ports;
  const lists = createLists(ports);
  const tasks = createTasks(ports);
  const reading = (viewer: Viewer) => {
    requireScope(viewer.caller, 'tools:read');
    return restrict(viewer);
  };
  const listing = (viewer: Viewer) => {
    const seen = reading(viewer);
    ports.onListed(seen.visible.servers);
    return seen;
  };
  return {
    visible: async viewer => lists.visible(restrict(viewer)),
    list: async (viewer, kind) => lists.list(listing(viewer), kind),
    find: async (viewer, name) => lists.find(reading(viewer), name),
    search: async (viewer, request) => {
      const found = await lists.search(listing(viewer), request);
      ports.uses?.searched(viewer.caller.principalId, request.query, found.hits);
      return found;
    },
    advertise: async (viewer, form) => {
      const { instructions, capabilities } = await lists.advertise(restrict(viewer), form);
      // Servers' texts are for callers that may read their lists.
      const isForCaller = instructions !== undefined && hasScope(viewer.caller, 'tools:read');
      return isForCaller ? { capabilities, instructions } : { capabilities };
    },
    subscription: async (viewer, uri) => lists.subscription(reading(viewer), uri),
    subscribeTasks: async (viewer, ids, onTask, signal) =>
      tasks.subscribe(reading(viewer), ids, onTask, signal),
    request: createCall({ ...ports, lists, tasks }),
    spend: async caller => ledger?.spend(caller),
    refused: async (caller, refusal, waitUntil) =>
      ledger && noteRefusal(ledger, caller, refusal, waitUntil),
  };
}
