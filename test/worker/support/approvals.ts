/** Approvals as an administrator sees them, and what clients then see. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, vi } from 'vitest';
import {
  PATIENT,
  SERVERS,
  ask,
  createPortico,
  legacy,
  monitorOf,
  type Portico,
  type RpcAnswer,
  type ServerView,
  whenQuiet,
} from './portico.ts';

export const APPROVALS = '/api/v1/approvals';

export interface Approval {
  id: string;
  server_id: string;
  kind: string;
  name: string;
  shown_name: string;
  state: string;
  reason: { kind: string; server_id?: string; name?: string } | null;
  approved_fingerprint: string | null;
  held_fingerprint: string | null;
}

export interface ApprovalList {
  approvals: Approval[];
  total: number;
  version?: string;
  next_cursor?: string;
}

export interface WholeApproval extends Approval {
  approved_definition: string | null;
  held_definition: string | null;
  diff: {
    changes: { path: string; before: { shown: string } | null; after: { shown: string } | null }[];
  };
}

/** The approvals of a server in these states, by default the pending ones. */
export async function listApprovals(
  portico: Portico,
  server: string,
  state = 'waiting',
): Promise<ApprovalList> {
  const response = await portico.api('GET', `${APPROVALS}?server=${server}&state=${state}`);
  expect(response.status).toBe(200);
  return response.json();
}

/** State of each approval of a server, by its name. */
export async function statesOf(portico: Portico, server: string): Promise<Record<string, string>> {
  const { approvals } = await listApprovals(portico, server, 'any');
  return Object.fromEntries(approvals.map(({ name, state }) => [name, state]));
}

/** Decision items for approvals in their held form. */
export const itemsOf = (approvals: readonly Approval[]) =>
  approvals.map(({ server_id, kind, name, held_fingerprint: fingerprint }) => {
    return { server_id, kind, name, fingerprint };
  });

export interface Decision {
  status: number;
  code?: string;
  decided?: number;
}

export async function decide(
  portico: Portico,
  verb: 'approve' | 'reject',
  body: object,
): Promise<Decision> {
  const response = await portico.api('POST', `${APPROVALS}/${verb}`, body);
  return { ...(await response.json<object>()), status: response.status };
}

/** Discovers the server now. @returns its record after that */
export async function look(portico: Portico, id: string): Promise<ServerView> {
  const read = async () => (await portico.api('GET', `${SERVERS}/${id}`)).json<ServerView>();
  if ((await read()).status !== 'DISCONNECTED') await whenQuiet(id);
  await portico.api('POST', `${SERVERS}/${id}/connect`);
  await runDurableObjectAlarm(monitorOf(id));
  // The alarm may have fired by itself, and its cycle may still be running.
  await whenQuiet(id);
  return read();
}

/** The tools of a server's own endpoint, as a fresh isolate lists them. */
export async function listTools(server: string): Promise<string[]> {
  const at = createPortico();
  const response = await at.post(legacy('tools/list'), {}, `/mcp/servers/${server}`);
  return (await response.json<RpcAnswer>()).result?.tools?.map(({ name }) => name) ?? [];
}

/** Waits until clients see these tools, without waking the monitor. */
export const whenListed = (server: string, names: readonly string[]) =>
  vi.waitFor(async () => expect(await listTools(server)).toEqual(names), PATIENT);

/** The answer to a call of a tool by its qualified name. */
export async function call(era: 'legacy' | 'modern', name: string): Promise<RpcAnswer> {
  const { message, headers } = ask(era, 'tools/call', { name, arguments: {} });
  return (await createPortico().post(message, { headers })).json();
}
