/** What waits for an approval at the gateway: which definitions, and how people are told of them. */
import { EXIT, Failure } from '../failure.ts';
import { visible } from '../output/table.ts';
import type { Api } from './api.ts';

export const APPROVALS = '/api/v1/approvals';

/** A definition of a tool, or the instructions of a server, as far as it is shown here. */
export interface Approval {
  id: string;
  server_id: string;
  server_name: string;
  kind: 'tool' | 'instructions';
  name: string;
  /** The name with what cannot be seen made visible. */
  shown_name: string;
  state: string;
  reason: { kind: string; name?: string } | null;
  approved_fingerprint: string | null;
  held_fingerprint: string | null;
  changed_at: string;
}

/** Most names that are told in a line. */
const MAX_TOLD = 5;
/** Digits of a fingerprint that are shown, and enough to name it. */
export const FINGERPRINT_CHARS = 12;

/** Pages of approvals. @param query `server`, an id, and `state`; what waits at any server without */
export const listApprovals = (api: Api, query: Record<string, string> = {}): Promise<Approval[]> =>
  api.list<Approval>(APPROVALS, 'approvals', query);

/**
 * What people are told beside a list: which tools are held, and what to do. Undefined where none is, or where the token may not
 * know it.
 */
export async function findHeldNote(api: Api): Promise<string | undefined> {
  const waiting = await listApprovals(api).catch(error => {
    if (error instanceof Failure) return [];
    throw error;
  });
  const held = toHeldText(waiting);
  return held === undefined ? undefined : visible(`${held}; see portico approvals`);
}

/** How it is called: by its qualified name, or as the instructions of its server. */
export const nameOf = ({ kind, server_name: server, shown_name: name }: Approval): string =>
  kind === 'tool' ? `${server}.${name}` : `${server} (${kind})`;

/** `2 tools are held until they are approved: a.one, a.two`; undefined where none is. */
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
 * The one of a name, as it is listed, or of an id.
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
