/**
 * The rooms of src/ and their order, described in docs/architecture.md: a room imports only rooms on floors below its own, types included.
 * A room is a folder of src/, or a file directly in src/.
 */
import type { SourceFile } from './source-file.ts';

/** From the ground up. Rooms on one floor do not import each other. */
export const FLOORS: readonly (readonly string[])[] = [
  ['shared'],
  ['http', 'tracing'],
  ['telemetry'],
  ['audit'],
  ['records'],
  ['credentials'],
  ['models', 'servers', 'webhooks'],
  ['access', 'upstream'],
  ['gateway', 'sign-in'],
  ['search', 'sessions', 'oauth'],
  ['agents', 'monitor'],
  ['config'],
  ['mcp', 'api', 'objects', 'pages'],
  ['app'],
  ['compose'],
  ['index'],
];

/** The room of a file of src/: `gateway` for `src/gateway/core.ts`, `app` for `src/app.ts`. */
export function roomOf(path: string): string | undefined {
  return /^src\/([a-z-]+)(?:\/|\.ts$)/.exec(path)?.[1];
}

const floorOf = (room: string | undefined) =>
  FLOORS.findIndex(rooms => room !== undefined && rooms.includes(room));

/** The imports of a file of src/ that do not go down, one sentence each. */
export function checkFloors({ path, imports }: Pick<SourceFile, 'path' | 'imports'>): string[] {
  const room = roomOf(path);
  if (floorOf(room) < 0) return [`${path} is in no room of docs/architecture.md`];
  return imports.flatMap(({ file }) => {
    if (file === undefined || roomOf(file) === room) return [];
    const other = floorOf(roomOf(file));
    return other >= 0 && other < floorOf(room)
      ? []
      : [`${path} imports ${file}, which is not below`];
  });
}

/** Import cycles, types included: each as its files, in order. */
export function findCircles(files: readonly Pick<SourceFile, 'path' | 'imports'>[]): string[][] {
  const importsOf = new Map(
    files.map(({ path, imports }) => [path, imports.flatMap(({ file }) => file ?? [])]),
  );
  const done = new Set<string>();
  const circles: string[][] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) circles.push(trail.slice(at));
    if (at >= 0 || done.has(path)) return;
    for (const next of importsOf.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of importsOf.keys()) walk(path, []);
  return circles;
}

/**
 * The packages that files of src/ bring into the console, one sentence each: it bundles what it imports, and packages
 * for the Worker are large and may evaluate text, which the console's policy refuses.
 */
export function packagesInConsole(
  console: readonly Pick<SourceFile, 'path' | 'imports'>[],
  src: readonly Pick<SourceFile, 'path' | 'imports'>[],
): string[] {
  const filesOf = (of: Pick<SourceFile, 'imports'>) =>
    of.imports.flatMap(({ file, typeOnly }) => (typeOnly ? [] : (file ?? [])));
  const bundled = new Set(console.flatMap(filesOf).filter(file => file.startsWith('src/')));
  const packages: string[] = [];
  for (const path of bundled) {
    const source = src.find(file => file.path === path);
    if (!source) continue;
    for (const file of filesOf(source)) bundled.add(file);
    for (const { specifier, file, typeOnly } of source.imports)
      if (file === undefined && !typeOnly)
        packages.push(`the console bundles ${path}, which imports ${specifier}`);
  }
  return packages;
}
