/** Bundles the gateway's Worker with meters: the platform's base class of its objects is replaced by one that counts. */
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { BUNDLE_OPTIONS } from '../../local/bundle.ts';

const inFolder = (name: string): string =>
  fileURLToPath(new URL(`./worker/${name}`, import.meta.url));
const OBJECT = inFolder('metered-object.ts');

/** @returns one ES module */
export async function bundleMetered(): Promise<string> {
  const { outputFiles } = await build({
    ...BUNDLE_OPTIONS,
    entryPoints: [inFolder('entry.ts')],
    external: ['node:*'],
    plugins: [
      {
        name: 'meters',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^cloudflare:/ }, ({ path, importer }) =>
            path === 'cloudflare:workers' && importer !== OBJECT
              ? { path: OBJECT }
              : { path, external: true },
          ),
      },
    ],
  });
  await stop();
  const [output] = outputFiles;
  if (!output) throw new Error('the metered Worker could not be bundled');
  return output.text;
}
