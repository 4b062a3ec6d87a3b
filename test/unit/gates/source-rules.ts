/** The project's rules that lint cannot express. Each function takes one file and returns one sentence for each breach. */
import { roomOf } from './rooms.ts';
import type { SourceFile } from './source-file.ts';

/** Maximum length of a file, in lines. */
const MAX_LINES = 300;

const SQL =
  /\b(SELECT\s[\s\S]*\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(TABLE|INDEX)\s)/;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d|\.config)?\.(ts|mjs)$/;
const UNUSED_WORD = /(^|-)(manager|helpers?|utils?|backend|target|provider)(-|\.)/;
const MACHINE_PATH =
  /(?<![\w.~/-])\/(?:home|Users|root|work|tmp|private|mnt)\/[\w.-]+|\b[A-Z]:\\\w/;
/** Files whose module-scope variable belongs to the isolate on purpose, and why. */
const ISOLATE_STATE: readonly string[] = [
  'src/upstream/protocol/wire-request.ts', // one counter for all callers is what keeps ids apart
];
const PROTOCOL_PEER = /(^|\.)(Server|McpServer|Client|\w+Transport|createMcpHandler)$/;

/** SQL is written only in `*-store.ts`. */
export function checkSql(source: SourceFile): string[] {
  if (source.path.endsWith('-store.ts')) return [];
  const statements = source.strings.filter(text => SQL.test(text));
  const prepared = source.calls.filter(call => /\.(prepare|sql\.exec)$/.test(call));
  return [...statements.map(toExcerpt), ...prepared].map(
    found => `${source.path} has SQL outside of a store: ${found}`,
  );
}

const HAS_BINDINGS = new Set<string | undefined>(['objects', 'compose', 'index']);
const KNOWS_HONO = new Set<string | undefined>(['app', 'api', 'mcp', 'pages']);

/** KV is accessed only in `*-kv.ts`. `bindings` are the names of the KV namespaces. */
export function checkKv(source: SourceFile, bindings: readonly string[]): string[] {
  if (source.path.endsWith('-kv.ts')) return [];
  const access = new RegExp(
    `(^|\\.)(${bindings.join('|')})\\.(get|put|list|delete|getWithMetadata)$`,
  );
  const calls = source.calls.filter(call => access.test(call));
  const types = source.types.filter(type => type === 'KVNamespace');
  return [...calls, ...types].map(
    found => `${source.path} reaches KV outside of *-kv.ts: ${found}`,
  );
}

/** Only the entry, the composition root and the objects use the bindings (`Env`, or `env` of the runtime). */
export function checkEnv(source: SourceFile): string[] {
  if (HAS_BINDINGS.has(roomOf(source.path))) return [];
  const imported = source.imports.filter(
    ({ specifier, names }) => specifier === 'cloudflare:workers' && names.includes('env'),
  );
  return [
    ...imported.map(({ specifier }) => specifier),
    ...source.types.filter(type => type === 'Env'),
  ].map(found => `${source.path} takes the bindings from ${found}`);
}

/** Only the endpoints use Hono and its `Context`. */
export function checkHono(source: SourceFile): string[] {
  if (KNOWS_HONO.has(roomOf(source.path))) return [];
  return source.imports
    .filter(({ specifier }) => /^(@?hono)(\/|$)/.test(specifier))
    .map(({ specifier }) => `${source.path} imports ${specifier} but is no endpoint`);
}

/** The Worker imports only production dependencies and the runtime's own modules. */
export function checkPackages(source: SourceFile, dependencies: readonly string[]): string[] {
  return source.imports
    .filter(({ file, specifier }) => {
      if (file !== undefined || specifier.startsWith('cloudflare:')) return false;
      return !dependencies.some(name => specifier === name || specifier.startsWith(`${name}/`));
    })
    .map(({ specifier }) => `${source.path} imports ${specifier}, which is not a dependency`);
}

/** Module scope holds no protocol peer and no mutable variable: an isolate serves many callers at once. */
export function checkModuleScope(source: SourceFile): string[] {
  return source.moduleVariables
    .filter(
      ({ kind, madeBy }) =>
        PROTOCOL_PEER.test(madeBy ?? '') ||
        (kind !== 'const' && !ISOLATE_STATE.includes(source.path)),
    )
    .map(({ name }) => `${source.path} shares ${name} between requests at module scope`);
}

/** A file has 300 lines at most. */
export function checkLength(source: Pick<SourceFile, 'path' | 'text'>): string[] {
  const lines = source.text.trimEnd().split('\n').length;
  return lines > MAX_LINES ? [`${source.path} has ${lines} lines, ${MAX_LINES} at most`] : [];
}

/** Names of files and folders are kebab-case and contain no meaningless word. */
export function checkName(path: string): string[] {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  const isKebab = KEBAB_CASE.test(name) && parts.every(part => /^[a-z0-9-]+$/.test(part));
  return [
    ...(isKebab ? [] : [`${path} is not kebab-case`]),
    ...(UNUSED_WORD.test(name) ? [`${path} is named with a word that says nothing`] : []),
  ];
}

/** A file begins with a header comment. */
export function checkHeader(source: Pick<SourceFile, 'path' | 'text'>): string[] {
  return /^(#!.*\n)?\/(\*\*|\/)/.test(source.text) ? [] : [`${source.path} has no header comment`];
}

/** No text names a path of somebody's machine. */
export function checkMachinePaths(source: Pick<SourceFile, 'path' | 'text'>): string[] {
  const found = MACHINE_PATH.exec(source.text);
  return found ? [`${source.path} names a place on a machine: ${found[0]}`] : [];
}

function toExcerpt(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
}
