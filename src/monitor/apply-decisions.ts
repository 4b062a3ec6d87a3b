/**
 * Applies decisions on a server's approvals to its last catalog, before anything is asked of the server: what was rejected is left out even
 * while the server cannot be discovered, or refuses to be.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { updateCatalog } from '../servers/registry/discovery-store.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { ToolApprover } from './approve-tools.ts';
import type { CatalogWriter } from './catalog-writer.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import { toDiscovery } from './last-lists.ts';

export interface DecisionPorts {
  db: D1Database;
  approvals: ToolApprover;
  catalogs: CatalogWriter;
  notifier: ChangeNotifier;
}

/**
 * Does nothing unless somebody decided since the last judgement.
 * @returns the server with the catalog that its row names now, and whether it is to be discovered, since only that brings what was approved
 */
export async function applyDecisions(
  server: Server,
  ports: DecisionPorts,
): Promise<{ server: Server; isDecided: boolean }> {
  const { approvals } = ports;
  if (!(await approvals.isDecided(server))) return { server, isDecided: false };
  const catalogHash = await withoutRejected(server, ports);
  await approvals.noteDecided(server);
  return { server: { ...server, catalogHash }, isDecided: true };
}

async function withoutRejected(
  server: Server,
  { db, approvals, catalogs, notifier }: DecisionPorts,
): Promise<string | null> {
  const { id, catalogHash: before, verdict } = server;
  const text = await catalogs.last(id, before);
  if (text === undefined || verdict === null) return before;
  // Not a list that the server sent: it is judged, but the judgement is not written.
  const failed = [{ kind: 'tools', error: new PorticoError('upstream_no_response') }] as const;
  const admitted = await approvals.admit(server, { ...toDiscovery(text, verdict), failed });
  const hash = await catalogs.keep(id, admitted, before, false);
  if (hash === before) return before;
  await notifier.note(admitted.items);
  const toolCount = admitted.items.tools.length;
  const { meta } = await updateCatalog(db, server, hash, toolCount, Date.now()).run();
  const isNamed = meta.changes !== 0;
  if (isNamed) notifier.noteNamed();
  await catalogs.retire(server, hash, isNamed);
  return isNamed ? hash : before;
}
