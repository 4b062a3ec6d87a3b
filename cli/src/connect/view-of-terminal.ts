/** Picks the view for standard error: redrawn on a terminal, one line per change elsewhere. */
import { createLineView, createLiveView, QUIET, type View } from './view.ts';

export interface ViewOptions {
  quiet?: boolean;
  verbose?: boolean;
}

/** @param origin of the gateway */
export function createView({ quiet, verbose }: ViewOptions, origin: string): View {
  if (quiet && !verbose) return QUIET;
  const { stderr, env } = process;
  // The reader of stderr may end before this command does.
  stderr.on('error', () => {});
  const isLive = stderr.isTTY && env['TERM'] !== 'dumb';
  if (!isLive) return createLineView(stderr, origin, () => performance.now());
  return createLiveView(stderr, origin, !env['NO_COLOR']);
}
