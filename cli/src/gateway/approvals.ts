/** Held definitions at the gateway that wait for approval, and how they are named to people. */
import { EXIT, Failure } from '../failure.ts';
import { visible } from '../output/table.ts';
import type { Api } from './api.ts';

export const APPROVALS = '/api/v1/approvals';

/** A tool's definition or a server's instructions: the fields that are used here. */
export interface Approval {
  id: string;
  server_id: string;
  server_name: string;
  kind: 'tool' | 'instructions';
  name: string;
  /** The name with invisible characters made visible. */
  shown_name: string;
  state: string;
  reason: { kind: string; name?: string } | null;
  approved_fingerprint: string | null;
  held_fingerprint: string | null;
  changed_at: string;
}

/** Most names in one line. */
const MAX_TOLD = 5;
/** Shown digits of a fingerprint; enough to identify it. */
export const FINGERPRINT_CHARS = 12;

/** Lists approvals. @param query `server`, an id, and `state`; without them everything that waits at any server */
export const listApprovals = (api: Api, query: Record<string, string> = {}): Promise<Approval[]> =>
  api.list<Approval>(APPROVALS, 'approvals', query);

/** A note to show beside a list: which tools are held, and what to do. Undefined where none is held or the token may not read approvals. */
export async function findHeldNote(api: Api): Promise<string | undefined> {
  const waiting = await listApprovals(api).catch(error => {
    if (error instanceof Failure) return [];
    throw error;
  });
  const held = toHeldText(waiting);
  return held === undefined ? undefined : visible(`${held}; see portico approvals`);
}

/** Display name: the qualified name, or the instructions of a server. */
export const nameOf = ({ kind, server_name: server, shown_name: name }: Approval): string =>
  kind === 'tool' ? `${server}.${name}` : `${server} (${kind})`;

/** Like `2 tools are held until they are approved: a.one, a.two`; undefined where none is. */
export function toHeldText(approvals: readonly Approval[]): string | undefined {
  const names = approvals.filter(({ kind }) => kind === 'tool').map(nameOf);
  if (names.length === 0) return undefined;
  const told = names.slice(0, MAX_TOLD).join(', ');
  const more = names.length > MAX_TOLD ? ` and ${names.length - MAX_TOLD} more` : '';
  const held =
    names.length === 1
      ? '1 tool is held until it is approved'
      : `${names.length} tools are held until they are approved`;
  return `${held}: ${told}${more}`;
}

/**
 * Finds an approval by its listed name or its id.
 * @throws Failure where there is none
 */
export function findApproval(wanted: string, approvals: readonly Approval[]): Approval {
  const found =
    approvals.find(({ id }) => id === wanted) ??
    approvals.find(approval => nameOf(approval) === wanted) ??
    approvals.find(({ server_name, name, kind }) =>
      kind === 'tool' ? `${server_name}.${name}` === wanted : false,
    );
  if (found) return found;
  throw new Failure(`nothing called '${wanted}' waits; see portico approvals`, EXIT.notFound);
}
