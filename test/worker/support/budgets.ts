/** Budgets of calls for tests, and counted calls. */
import { env } from 'cloudflare:workers';
import { call } from './live-calls.ts';
import { type Portico, type RpcAnswer, WHOLE } from './portico.ts';

export const BUDGETS = '/api/v1/budgets';

export interface BudgetView {
  id: string;
  calls_per_day: number;
  used_today: number | null;
  ends_at: string;
}

let made = 0;
/** A group name that no other test uses. */
export const groupName = (): string => `spenders-${(made += 1)}-${crypto.randomUUID().slice(0, 8)}`;

/** The object that counts the calls of a subject. */
export const counterOf = (kind: 'group' | 'principal', key: string) =>
  env.AUDIT_LOG.getByName(`budget:${kind}:${key}`);

/** Calls the tool of a server. */
export async function callOnce(
  portico: Portico | undefined,
  token: string,
  server: string,
  args: object = {},
): Promise<RpcAnswer> {
  if (!portico) throw new Error('There is no such gateway');
  const { message, headers } = call(server, 'modern', { arguments: args });
  const response = await portico.post(message, { headers: { ...headers, ...WHOLE }, token });
  return response.json<RpcAnswer>();
}

/** Why a call was refused; undefined if it was made. */
export const reasonOf = ({ result, error }: RpcAnswer): unknown =>
  result?._meta?.['portico/reason'] ?? error?.code;
