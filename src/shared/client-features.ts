/**
 * What a server may make its tools depend on of its client: the capabilities that concern questions, one by one, and what a client
 * declares that has them. Pure. Source: MCP 2025-11-25, lifecycle, Capability Negotiation.
 */
import { isObject, type JsonObject } from './protocol.ts';
import { fillsForms, opensLinks } from './client-capabilities.ts';

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
