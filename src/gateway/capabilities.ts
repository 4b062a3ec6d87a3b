/**
 * Computes the capabilities of an endpoint from those of its servers. Pure. Only what Portico passes through is advertised; an endpoint of
 * many servers has a capability if one of its servers has it. Portico can always announce a changed list, since it polls servers that do
 * not announce changes.
 */
import type { Naming } from './viewer.ts';
import type { Catalog } from '../servers/catalog/catalog.ts';
import { isObject, TASKS_EXTENSION, type Era, type JsonObject } from '../shared/protocol.ts';
import { offeredExtensions } from './extensions.ts';
import type { AdvertisedCapabilities } from './gateway.ts';
import { mergeInstructions, type ServerInstructions } from './results/merged-instructions.ts';

/** A visible server; its era is known once it has been negotiated. */
export interface Offering {
  /** Name of the server. */
  server: string;
  catalog: Catalog;
  era: Era | undefined;
}

/** Returns what an endpoint advertises. @param tasks the form of tasks that the client knows, if any */
export function toAdvertised(
  offering: readonly Offering[],
  naming: Naming,
  tasks?: Era,
): AdvertisedCapabilities {
  const catalogs = offering.map(({ catalog }) => catalog);
  const capabilities: JsonObject = { tools: { listChanged: true } };
  const has = (name: string) => catalogs.some(catalog => catalog.capabilities[name] !== undefined);
  if (has('resources')) {
    const subscribe = catalogs.some(canSubscribe) ? { subscribe: true } : {};
    capabilities['resources'] = { ...subscribe, listChanged: true };
  }
  if (has('prompts')) capabilities['prompts'] = { listChanged: true };
  if (has('completions')) capabilities['completions'] = {};
  if (has('logging')) capabilities['logging'] = {};
  const extensions = offeredExtensions(catalogs);
  // Tasks of the two eras do not fit together: a server offers them to clients of its own era.
  const peers = offering.filter(({ era }) => era === tasks).map(({ catalog }) => catalog);
  if (tasks === 'modern' && peers.some(hasTasksExtension)) extensions[TASKS_EXTENSION] = {};
  const legacyTasks = tasks === 'legacy' ? legacyTasksOf(peers) : undefined;
  if (legacyTasks) capabilities['tasks'] = legacyTasks;
  const experimental = offeredExtensions(catalogs, 'experimental');
  for (const [name, offered] of Object.entries({ extensions, experimental })) {
    if (Object.keys(offered).length > 0) capabilities[name] = offered;
  }
  const instructions =
    naming.kind === 'own' ? catalogs[0]?.instructions : mergeInstructions(instructionsOf(offering));
  return instructions === undefined ? { capabilities } : { capabilities, instructions };
}

/** Whether a server lets clients subscribe to single resources. */
export function canSubscribe({ capabilities }: Catalog): boolean {
  const { resources } = capabilities;
  return isObject(resources) && resources['subscribe'] === true;
}

function instructionsOf(offering: readonly Offering[]): ServerInstructions[] {
  return offering.flatMap(({ server, catalog: { instructions: text } }) =>
    text === undefined ? [] : [{ server, text }],
  );
}

function hasTasksExtension({ capabilities: { extensions } }: Catalog): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/**
 * Merges the task capabilities of the legacy era: tool calls only, never a list. A server sees one credential for all callers, so its list
 * may contain everybody's tasks (2025-11-25, tasks, isolation).
 */
function legacyTasksOf(catalogs: readonly Catalog[]): JsonObject | undefined {
  const offered = catalogs.map(({ capabilities }) => capabilities['tasks']).filter(makesTasks);
  if (offered.length === 0) return undefined;
  const cancel = offered.some(({ cancel: can }) => isObject(can)) ? { cancel: {} } : {};
  return { ...cancel, requests: { tools: { call: {} } } };
}

/** Whether a server's `tasks` capability says that calls can become tasks. */
function makesTasks(tasks: unknown): tasks is JsonObject {
  const requests = isObject(tasks) ? tasks['requests'] : undefined;
  const tools = isObject(requests) ? requests['tools'] : undefined;
  return isObject(tools) && isObject(tools['call']);
}
