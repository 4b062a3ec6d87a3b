/**
 * Programs that end-to-end tests start hundreds of times, each in one file: to find, read and strip their many files takes longer than what
 * most of them do. Their own tests are those of the sources.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { FIXTURES } from '../../fixtures/start-fixture.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LOCAL = `${ROOT}local/`;
const OPTIONS: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  logLevel: 'silent',
};

/** Replaces the reader of a checkout's files by the one of packed files. @param folder of the packed files */
const readPacked = (folder: string): Plugin => ({
  name: 'packed-files',
  setup({ onLoad }) {
    onLoad({ filter: /[/]local[/]source-files\.ts$/ }, () => ({
      resolveDir: LOCAL,
      contents: `
        import { readPackedFiles } from './gateway-files.ts';
        export const readSourceFiles = () => readPackedFiles(${JSON.stringify(folder)});
      `,
    }));
  },
});

/**
 * Builds the process of `npm start`. It takes the Worker and the static files that were packed, instead of looking for changed sources.
 * @param folder from which packages are found that are not bundled
 * @param packed folder of the gateway's packed files
 * @returns its file
 */
export async function buildGateway(folder: string, packed: string): Promise<string> {
  await build({
    ...OPTIONS,
    entryPoints: { gateway: `${LOCAL}main.ts` },
    outdir: folder,
    external: ['miniflare', '@modelcontextprotocol/server-everything'],
    // All files that ask for their place are in one folder.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(`${LOCAL}main.ts`).href) },
    plugins: [readPacked(packed)],
  });
  return `${folder}/gateway.mjs`;
}

/** Builds every fixture that is a process. @returns their folder */
export async function buildFixtures(folder: string): Promise<string> {
  await build({
    ...OPTIONS,
    entryPoints: FIXTURES.map(name => `${ROOT}test/fixtures/${name}.ts`),
    outdir: folder,
    splitting: true,
    banner: {
      // Packages in CommonJS ask for modules of Node by this name.
      js: `import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);`,
    },
  });
  return folder;
}
