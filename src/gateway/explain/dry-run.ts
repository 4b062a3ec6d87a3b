/**
 * Tries whether a tool would be listed and called, without sending anything to a server. The gateway's own code decides on scopes,
 * visibility, names, circuits and accounts, so `gateway/explain/explain-service.ts` explains the very decision that requests get.
 */
import { toPorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { refuseWithout } from '../../upstream/endpoint.ts';
import { createLists, type ListPorts } from '../lists.ts';
import { circuitRefusal } from '../steps/server-health.ts';
import { restrict } from '../steps/restrict.ts';
import type { CallerView } from '../viewer.ts';

export interface Trial {
  isListed: boolean;
  /** The error that a call is refused with before it is sent; undefined if it would be sent. */
  code: ErrorCode | undefined;
}

/** @param tool the server's own name for the tool */
export type TryTool = (view: CallerView, server: Server, tool: string) => Promise<Trial>;

export type TrialPorts = Pick<ListPorts, 'catalogOf'>;

export function createTrial({ catalogOf }: TrialPorts): TryTool {
  const findTools = () => Promise.resolve({ tools: [], serversSearched: 0, toolsSearched: 0 });
  const catalogsOf = (servers: readonly Server[]) => Promise.all(servers.map(catalogOf));
  const lists = createLists({ catalogOf, catalogsOf, findTools });

  return async (view, server, tool) => {
    const viewer = restrict({ ...view, naming: { kind: 'own', serverId: server.id } });
    const listed = await codeOf(async () => {
      requireScope(view.caller, 'tools:read');
      const { items } = await lists.list(viewer, 'tools');
      return items.some(({ item }) => item.key === tool);
    });
    const called = await codeOf(async () => {
      requireScope(view.caller, 'tools:call');
      const resolved = await lists.resolve(viewer, { kind: 'tool', name: tool });
      const refusal = circuitRefusal(resolved.server);
      if (refusal) throw refusal;
      refuseWithout(resolved.server);
    });
    return { isListed: listed.value === true, code: called.code };
  };
}

async function codeOf<T>(work: () => Promise<T>): Promise<{ value?: T; code?: ErrorCode }> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { code: toPorticoError(thrown).code };
  }
}
