/**
 * What a client can be asked, from the capabilities it declared, and which of them a server may make its tools depend on. Pure.
 * Source: MCP 2025-11-25 client features and lifecycle, Capability Negotiation; 2026-07-28 multi round-trip requests.
 */
import { isObject, type JsonObject } from './protocol.ts';

/** The capability of a client that a question needs. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
]);

const CLIENT_CAPABILITIES = ['elicitation', 'roots', 'sampling'];

/**
 * What of a client's capabilities concerns questions: all that an upstream is told of them. That its
 * roots changed is not passed on, so it is not promised either.
 */
export function clientCapabilitiesOf(capabilities: unknown): JsonObject {
  if (!isObject(capabilities)) return {};
  const named = CLIENT_CAPABILITIES.filter(name => isObject(capabilities[name]));
  const kept = Object.fromEntries(named.map(name => [name, capabilities[name]]));
  return 'roots' in kept ? { ...kept, roots: {} } : kept;
}

/** The capability a client needs for a question; undefined where it is none that clients answer. */
export function capabilityFor(method: string): string | undefined {
  return NEEDED.get(method);
}

/** Whether a client with these capabilities answers a question. */
export function canBeAsked(capabilities: JsonObject, method: string): boolean {
  const needed = capabilityFor(method);
  return needed !== undefined && capabilities[needed] !== undefined;
}

/** Whether it fills in forms. One that names no way of elicitation does (2025-11-25). */
export function fillsForms({ elicitation }: JsonObject): boolean {
  if (!isObject(elicitation)) return false;
  return Object.keys(elicitation).length === 0 || elicitation['form'] !== undefined;
}

/** Whether it opens links, so that people can be sent to a page. */
export const opensLinks = ({ elicitation }: JsonObject): boolean =>
  isObject(elicitation) && isObject(elicitation['url']);

/** A short text that is equal for clients that can be asked the same; '' for those that cannot. */
export function capabilitiesKey(capabilities: JsonObject): string {
  return Object.keys(capabilities).length === 0 ? '' : JSON.stringify(sorted(capabilities));
}

function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map(name => [name, sorted(value[name])]));
}

export type ClientFeature =
  'roots' | 'sampling' | 'sampling.tools' | 'elicitation.form' | 'elicitation.url';

/** A client that has one of them, and nothing else that can be left out. */
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

/** The capabilities of a client with these features. */
export function declaring(features: readonly ClientFeature[]): JsonObject {
  const declared: Record<string, JsonObject> = {};
  for (const feature of features) {
    for (const [name, value] of Object.entries(DECLARED[feature])) {
      declared[name] = { ...declared[name], ...(value as JsonObject) };
    }
  }
  return declared;
}

/** The features of a client that declared these capabilities. */
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
