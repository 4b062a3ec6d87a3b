/**
 * Bundles a Worker's entry into one ES module, with the conditions and text modules that wrangler uses.
 * Refuses nothing; what cannot be bundled throws esbuild's own message.
 */
import { buildSync } from 'esbuild';

/** Bundle the file at an absolute path. Synchronous, because then esbuild leaves no process behind. */
export function bundleWorker(entry: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.sql': 'text', '.html': 'text', '.txt': 'text' },
    write: false,
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`No bundle for ${entry}`);
  return output.text;
}
