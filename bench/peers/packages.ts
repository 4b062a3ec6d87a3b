/** The packages of other gateways: where they lie, which version is pinned, what their programs are started with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('packages/', import.meta.url));
const BOOTSTRAP = new URL('../../local/bootstrap.mjs', import.meta.url).href;
const LOOPBACK_ONLY = new URL('packages/loopback-only.mjs', import.meta.url).href;

/** Installs what `packages/package-lock.json` says, without scripts, unless it is there. */
export async function installPackages(): Promise<void> {
  const { ensureInstalled }: { ensureInstalled(folder: string): Promise<void> } = await import(
    BOOTSTRAP
  );
  await ensureInstalled(FOLDER);
}

/** A file of `packages/`, by its path. */
export const packageFile = (path: string): string => join(FOLDER, path);

/** The version that is pinned. @throws Error where there is none */
export function pinnedVersion(name: string): string {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(packageFile('package.json'), 'utf8'),
  );
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is not in bench/peers/packages/package.json`);
  return version;
}

/** The environment of another gateway: it finds no other program and fetches from nowhere but loopback. */
export const peerEnvironment = (home: string): Record<string, string> => ({
  PATH: '',
  HOME: home,
  NODE_ENV: 'production',
  NODE_OPTIONS: `--import ${LOOPBACK_ONLY}`,
});

/** The one upstream of a gateway that joins none. */
export function onlyOne<T>(upstreams: readonly T[]): T {
  const [first] = upstreams;
  if (first === undefined || upstreams.length > 1) throw new Error('it takes one upstream');
  return first;
}
