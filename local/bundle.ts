/**
 * Bundles a Worker's entry into one ES module, with the conditions and text modules that wrangler uses.
 * If bundling fails, esbuild's own error is thrown.
 */
import { resolve } from 'node:path';
import { buildSync, type BuildOptions } from 'esbuild';

export const BUNDLE_OPTIONS: BuildOptions & { write: false } = {
  bundle: true,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*', 'node:*'],
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.sql': 'text', '.html': 'text', '.txt': 'text' },
  write: false,
  logLevel: 'silent',
};

/** Bundles the file at an absolute path. Synchronous, because then esbuild leaves no process behind. */
export function bundleWorker(entry: string): string {
  return bundleWithSources(entry).text;
}

/** Bundles the file, and returns the absolute paths of all bundled files too. */
export function bundleWithSources(entry: string): { text: string; sources: string[] } {
  const { outputFiles, metafile } = buildSync({
    ...BUNDLE_OPTIONS,
    entryPoints: [entry],
    metafile: true,
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`No bundle for ${entry}`);
  return { text: output.text, sources: Object.keys(metafile.inputs).map(path => resolve(path)) };
}
