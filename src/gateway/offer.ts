/**
 * What an endpoint says it can do, from what its servers can do. Pure. Only what Portico passes
 * through is offered; on an endpoint of many servers a feature is there if one server has it. That a
 * list changed Portico can always tell, since it looks itself where a server does not.
 */
import type { Catalog } from '../catalog/catalog.ts';
import { isObject, type JsonObject } from '../protocol.ts';
import type { Naming, Offer } from './gateway.ts';

/** @param catalogs of the servers within reach */
export function toOffer(catalogs: readonly Catalog[], naming: Naming): Offer {
  const capabilities: JsonObject = { tools: { listChanged: true } };
  const has = (name: string) => catalogs.some(catalog => catalog.capabilities[name] !== undefined);
  if (has('resources')) {
    const subscribe = catalogs.some(canSubscribe) ? { subscribe: true } : {};
    capabilities['resources'] = { ...subscribe, listChanged: true };
  }
  if (has('prompts')) capabilities['prompts'] = { listChanged: true };
  if (has('completions')) capabilities['completions'] = {};
  if (has('logging')) capabilities['logging'] = {};
  const extensions = Object.assign({}, ...catalogs.map(extensionsOf)) as JsonObject;
  if (Object.keys(extensions).length > 0) capabilities['extensions'] = extensions;
  const instructions = naming.kind === 'own' ? catalogs[0]?.instructions : undefined;
  return instructions === undefined ? { capabilities } : { capabilities, instructions };
}

/** Whether a server tells of single resources. */
export function canSubscribe({ capabilities }: Catalog): boolean {
  const { resources } = capabilities;
  return isObject(resources) && resources['subscribe'] === true;
}

/** Extensions that live in what is listed and called, so that passing it through is enough. */
const PASSED_EXTENSIONS = ['io.modelcontextprotocol/ui'];

function extensionsOf({ capabilities }: Catalog): JsonObject {
  const { extensions } = capabilities;
  if (!isObject(extensions)) return {};
  const passed = PASSED_EXTENSIONS.filter(name => name in extensions);
  return Object.fromEntries(passed.map(name => [name, extensions[name]]));
}
