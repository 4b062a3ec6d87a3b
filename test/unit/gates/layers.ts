/**
 * The layers of src/ and which may import which: the exact form of the directions in docs/architecture.md.
 * `faces → domain ← edges`; a type may pass where a value may not, because it is gone at run time.
 */
import type { Import, SourceFile } from './source-file.ts';

export type Layer =
  | 'lib'
  | 'protocol'
  | 'errors'
  | 'formats'
  | 'settings'
  | 'domain'
  | 'store'
  | 'edge'
  | 'object'
  | 'face'
  | 'env'
  | 'root';

/** The first pattern that a path matches decides. */
const PLACES: readonly (readonly [RegExp, Layer])[] = [
  [/^src\/(index|wire)\.ts$/, 'root'],
  [/^src\/(env|config)\.ts$/, 'env'],
  [/^src\/protocol\.ts$/, 'protocol'],
  [/^src\/(lib|errors|formats)\//, 'lib'],
  // What a deployment may set: names, forms and bounds, for the one reader of them.
  [/^src\/[a-z-]+\/[a-z-]+-settings\.ts$/, 'settings'],
  [/^src\/(app\.ts|(api|mcp|http)\/|connectors\/[a-z-]+-route\.ts)/, 'face'],
  [/^src\/[a-z-]+\/[a-z-]+-object\.ts$/, 'object'],
  [/^src\/[a-z-]+\/[a-z-]+-(store|kv)\.ts$/, 'store'],
  [/^src\/[a-z-]+\/[a-z-]+-transport\.ts$/, 'edge'],
  // Sessions at upstreams are opened over the network.
  [/^src\/session\/upstream-sessions\.ts$/, 'edge'],
  // What an edge promises, and policy on its data, is domain wherever it is kept: no I/O in these.
  [/^src\/(upstream|llm|connectors)\/([a-z-]+-)?(port|schema|guard|frames|service)\.ts$/, 'domain'],
  // What a model does with tools goes through the gateway only.
  [/^src\/llm\/(run-calls|counted)\.ts$/, 'domain'],
  [/^src\/(upstream|llm|connectors)\//, 'edge'],
  [
    /^src\/(access|ask|audit|cache|catalog|chat|gateway|health|limits|pins|registry|search|secrets|session|skills|telemetry)\//,
    'domain',
  ],
];

const foundation: readonly Layer[] = ['lib', 'protocol', 'errors', 'formats', 'settings'];

/** What each layer may import for its values, and beside that for its types only. */
const ALLOWED: Readonly<Record<Layer, { values: readonly Layer[]; types: readonly Layer[] }>> = {
  lib: { values: ['lib'], types: [] },
  protocol: { values: ['lib'], types: [] },
  errors: { values: ['lib', 'protocol', 'errors'], types: [] },
  formats: { values: foundation, types: [] },
  settings: { values: foundation, types: ['domain'] },
  // A store builds statements and parses rows; whoever batches the statements imports it.
  domain: { values: [...foundation, 'domain', 'store'], types: ['edge', 'object', 'env'] },
  store: { values: [...foundation, 'domain', 'store'], types: [] },
  edge: { values: [...foundation, 'domain', 'edge'], types: ['store', 'object', 'env'] },
  object: { values: [...foundation, 'domain', 'store', 'edge', 'env'], types: ['object'] },
  face: { values: [...foundation, 'domain', 'face'], types: ['edge', 'env'] },
  env: { values: foundation, types: ['domain', 'object'] },
  root: {
    values: [...foundation, 'domain', 'store', 'edge', 'object', 'face', 'env', 'root'],
    types: [],
  },
};

/** The layer of a file of src/, or undefined for a file that has no place. */
export function findLayer(path: string): Layer | undefined {
  const layer = PLACES.find(([pattern]) => pattern.test(path))?.[1];
  if (layer !== 'lib') return layer;
  return path.startsWith('src/errors/')
    ? 'errors'
    : path.startsWith('src/formats/')
      ? 'formats'
      : 'lib';
}

/** The imports of a file of src/ that go against the directions, one sentence each. */
export function checkDirections(source: SourceFile): string[] {
  const layer = findLayer(source.path);
  if (!layer) return [`${source.path} belongs to no layer of docs/architecture.md`];
  return source.imports.flatMap(entry => checkImport(source.path, layer, entry));
}

function checkImport(path: string, layer: Layer, entry: Import): string[] {
  if (entry.file === undefined) return [];
  const other = findLayer(entry.file);
  if (!other) return [`${path} imports ${entry.file}, which is outside of the layers of src/`];
  const { values, types } = ALLOWED[layer];
  if (values.includes(other) || (entry.typeOnly && types.includes(other))) return [];
  const what = entry.typeOnly ? 'a type of' : 'a value of';
  return [`${path} (${layer}) imports ${what} ${entry.file} (${other})`];
}
