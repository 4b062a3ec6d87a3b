/** The packages of other gateways: their folder, pinned versions, and the environment of their programs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('packages/', import.meta.url));
const BOOTSTRAP = new URL('../../local/bootstrap.mjs', import.meta.url).href;
const LOOPBACK_ONLY = new URL('packages/loopback-only.mjs', import.meta.url).href;

/** Installs the packages of `packages/package-lock.json`, without scripts, unless they are installed. */
export async function installPackages(): Promise<void> {
  const { ensureInstalled }: { ensureInstalled(folder: string): Promise<void> } = await import(
    BOOTSTRAP
  );
  await ensureInstalled(FOLDER);
}

/** Path of a file below `packages/`. */
export const packageFile = (path: string): string => join(FOLDER, path);

/** Returns the pinned version. @throws Error where there is none */
export function pinnedVersion(name: string): string {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(packageFile('package.json'), 'utf8'),
  );
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is not in bench/peers/packages/package.json`);
  return version;
}

/** The environment of another gateway: it finds no other program, and can fetch only from loopback. */
export const peerEnvironment = (home: string): Record<string, string> => ({
  PATH: '',
  HOME: home,
  NODE_ENV: 'production',
  NODE_OPTIONS: `--import ${LOOPBACK_ONLY}`,
});

/** Returns the only upstream, for a gateway that joins none. */
export function onlyOne<T>(upstreams: readonly T[]): T {
  const [first] = upstreams;
  if (first === undefined || upstreams.length > 1) throw new Error('it takes one upstream');
  return first;
}
