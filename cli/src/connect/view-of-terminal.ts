/** The view that fits where standard error goes: drawn anew on a terminal, lines elsewhere. */
import { createLineView, createLiveView, QUIET, type View } from './view.ts';

export interface ViewOptions {
  quiet?: boolean;
  verbose?: boolean;
}

/** @param origin of the gateway, as it is called */
export function createView({ quiet, verbose }: ViewOptions, origin: string): View {
  if (quiet && !verbose) return QUIET;
  const { stderr, env } = process;
  // Who reads this may be gone before the command is.
  stderr.on('error', () => {});
  const isLive = stderr.isTTY && env['TERM'] !== 'dumb';
  if (!isLive) return createLineView(stderr, origin, () => performance.now());
  return createLiveView(stderr, origin, !env['NO_COLOR']);
}
