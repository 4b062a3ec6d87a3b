/**
 * Which server requests a client can answer, from the capabilities it declared, and which of them a server may make its
 * tools depend on. Pure.
 * Source: MCP 2025-11-25 client features and lifecycle, Capability Negotiation; 2026-07-28 multi round-trip requests.
 */
import { isObject, type JsonObject } from './protocol.ts';

/** The client capability that each server request needs. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
]);

/** The client capabilities that concern server requests, and the parts of each that the protocol names. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  roots: [],
  sampling: ['context', 'tools'],
};

export const CLIENT_CAPABILITIES = Object.keys(PARTS);

/**
 * Returns the part of a client's capabilities that concerns server requests: all that an upstream session learns of them. Only what the
 * protocol names is kept, so that there are few kinds of clients: each kind has sessions, objects and memory of its own.
 * `roots.listChanged` is left out, because the gateway does not pass that notification on.
 */
export function clientCapabilitiesOf(capabilities: unknown): JsonObject {
  if (!isObject(capabilities)) return {};
  const kept: Record<string, JsonObject> = {};
  for (const [name, parts] of Object.entries(PARTS)) {
    const given = capabilities[name];
    if (!isObject(given)) continue;
    const known = parts.filter(part => isObject(given[part]));
    kept[name] = Object.fromEntries(known.map(part => [part, {}]));
  }
  return kept;
}

/** Returns the capability that a client needs for a server request; undefined for a method that clients do not answer. */
export function capabilityFor(method: string): string | undefined {
  return NEEDED.get(method);
}

/** Whether a client with these capabilities answers a server request. */
export function canAnswer(capabilities: JsonObject, method: string): boolean {
  const needed = capabilityFor(method);
  return needed !== undefined && capabilities[needed] !== undefined;
}

/** Whether the client fills in forms. A client that declares elicitation without a mode does (2025-11-25). */
export function fillsForms({ elicitation }: JsonObject): boolean {
  if (!isObject(elicitation)) return false;
  return Object.keys(elicitation).length === 0 || elicitation['form'] !== undefined;
}

/** Whether the client opens links, so that people can be sent to a page. */
export const opensLinks = ({ elicitation }: JsonObject): boolean =>
  isObject(elicitation) && isObject(elicitation['url']);

/**
 * Returns a short text that is equal for clients that can answer the same server requests; '' for those that can answer none.
 * @param capabilities of `clientCapabilitiesOf`, so in its order
 */
export function capabilitiesKey(capabilities: JsonObject): string {
  return Object.keys(capabilities).length === 0 ? '' : JSON.stringify(capabilities);
}

export type ClientFeature =
  'roots' | 'sampling' | 'sampling.tools' | 'elicitation.form' | 'elicitation.url';

/** For each feature, the smallest capabilities of a client that has it. */
const DECLARED: Readonly<Record<ClientFeature, JsonObject>> = {
  roots: { roots: {} },
  sampling: { sampling: {} },
  'sampling.tools': { sampling: { tools: {} } },
  'elicitation.form': { elicitation: { form: {} } },
  'elicitation.url': { elicitation: { url: {} } },
};

export const CLIENT_FEATURES = Object.keys(DECLARED) as ClientFeature[];

/** What a client may lack: a capability as a whole, or a part of one. */
export const FEATURE_SETS: readonly (readonly ClientFeature[])[] = [
  ['roots'],
  ['sampling', 'sampling.tools'],
  ['sampling.tools'],
  ['elicitation.form', 'elicitation.url'],
  ['elicitation.form'],
  ['elicitation.url'],
];

/** Returns the capabilities of a client with these features. */
export function declaring(features: readonly ClientFeature[]): JsonObject {
  const declared: Record<string, JsonObject> = {};
  for (const feature of features) {
    for (const [name, value] of Object.entries(DECLARED[feature])) {
      declared[name] = { ...declared[name], ...(value as JsonObject) };
    }
  }
  return declared;
}

/** Returns the features of a client that declared these capabilities. */
export function featuresOf(capabilities: JsonObject): ClientFeature[] {
  const { roots, sampling } = capabilities;
  const has: Readonly<Record<ClientFeature, boolean>> = {
    roots: isObject(roots),
    sampling: isObject(sampling),
    'sampling.tools': isObject(sampling) && isObject(sampling['tools']),
    'elicitation.form': fillsForms(capabilities),
    'elicitation.url': opensLinks(capabilities),
  };
  return CLIENT_FEATURES.filter(feature => has[feature]);
}
