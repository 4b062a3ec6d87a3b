/** The name of an approval, and the reason why it is held, in words. */
import type { Approval } from '../../generated/types.gen.ts';
import { toShown } from '../../parts/foreign.tsx';

/** `github.create_issue`, or `instructions of` a server. */
export const nameOf = ({ server_name: server, shown_name: name, kind }: Approval): string =>
  kind === 'instructions' ? `instructions of ${server}` : `${server}.${name}`;

/** Its name is misleading: it can only be approved on its own. */
export const isMisleading = ({ reason }: Approval): boolean => reason !== null;

/** The reason, as the end of a sentence. */
export function whyOf({ state, reason }: Approval): string {
  if (reason?.kind === 'look_alike') {
    const other = reason.name === '' ? 'a tool of another server' : toShown(reason.name);
    return `can be taken for ${other}`;
  }
  if (reason) return 'has invisible characters in its name';
  if (state === 'rejected') return 'was rejected';
  return state === 'changed' ? 'differs from what was approved' : 'is new';
}
