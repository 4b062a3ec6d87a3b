/**
 * What a list and a call of a tool would come to, without a word to any server: the gateway's own core and access over a transport that
 * sends nothing. So whoever asks why (`gateway/explain/explain-service.ts`) hears of the very decision that requests meet.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { Naming, VisibleServers } from '../listing.ts';
import type { Catalog } from '../../servers/catalog/catalog.ts';
import { toPorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { withCircuit, type Call } from '../health/live-calls.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { createCore } from '../core.ts';
import { ServerFailure } from '../server-failure.ts';
import { withAccess } from '../steps/with-access.ts';

export interface Trial {
  isListed: boolean;
  /** What a call is refused with before it leaves; undefined where it would leave. */
  code: ErrorCode | undefined;
}

/** @param tool the server's own name of it */
export type TryTool = (
  caller: Caller,
  visible: VisibleServers,
  server: Server,
  tool: string,
) => Promise<Trial>;

export interface TrialPorts {
  catalogOf(server: Server): Catalog | Promise<Catalog>;
}

const RESPONSE = { kind: 'response', result: '{}', parsed: {} } as const;

export function createTrial({ catalogOf }: TrialPorts): TryTool {
  const leave: Call = () => Promise.resolve({ response: RESPONSE });
  const findTools = () => Promise.resolve({ tools: [], serversSearched: 0, toolsSearched: 0 });
  const core = createCore({ catalogOf, findTools, call: withCircuit(leave) });
  const subscribeTasks = () => Promise.resolve({ agreed: [], ended: Promise.resolve() });
  const gateway = withAccess({ ...core, subscribeTasks });

  return async (caller, visible, server, tool) => {
    const own: Naming = { kind: 'own', serverId: server.id };
    const listed = await codeOf(async () => {
      const { items } = await gateway.list(caller, visible, own, 'tools');
      return items.some(({ item }) => item.key === tool);
    });
    const request = {
      method: 'tools/call',
      reference: { kind: 'tool', name: tool },
      params: new Map([['arguments', '{}']]),
    } as const;
    const context = {
      signal: new AbortController().signal,
      owner: () => '',
      waitUntil: () => undefined,
      capabilities: {},
      questions: 'ask',
    } as const;
    const called = await codeOf(() => gateway.request(caller, visible, own, request, context));
    return { isListed: listed.value === true, code: called.code };
  };
}

async function codeOf<T>(work: () => Promise<T>): Promise<{ value?: T; code?: ErrorCode }> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { code: toPorticoError(thrown instanceof ServerFailure ? thrown.reason : thrown).code };
  }
}
