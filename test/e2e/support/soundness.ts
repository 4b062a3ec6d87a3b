/**
 * Rules for every response of the gateway, whatever was sent: in time, no failure of its own, and valid by the protocol's schemas.
 * `findFaults` runs many cases at once and reports which broke a rule.
 */
import {
  CallToolResultSchema,
  JSONRPCMessageSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/core';
import type { Answer, Era } from './raw-client.ts';

/** The longest time of a response, in milliseconds; long enough for a busy machine. */
export const ANSWER_MS = 60_000;
const AT_ONCE = 12;

const RESULTS = { 'tools/call': CallToolResultSchema, 'tools/list': ListToolsResultSchema };

/** Throws if the response to an MCP request breaks a rule. */
export function checkAnswer(answer: Answer, era: Era, method?: keyof typeof RESULTS): void {
  if (answer.status >= 500) throw new Error(`status ${answer.status}: ${answer.text}`);
  if (answer.messages.length === 0) {
    if (answer.text !== '' || answer.status !== 202)
      throw new Error(`${answer.status} says nothing`);
    return;
  }
  for (const text of answer.messages) {
    const parsed: unknown = JSON.parse(text, withoutDigits);
    for (const message of Array.isArray(parsed) ? (parsed as unknown[]) : [parsed]) {
      checkMessage(message as Record<string, unknown>, era, method);
    }
  }
}

/** The schema accepts no number that JavaScript cannot represent; but an id may be any integer, and comes back digit for digit. */
function withoutDigits(this: unknown, key: string, value: unknown, context?: { source: string }) {
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value);
  return key === 'id' && isInexact && /^-?\d+$/u.test(context?.source ?? '') ? 1 : value;
}

function checkMessage(
  message: Record<string, unknown>,
  era: Era,
  method?: keyof typeof RESULTS,
): void {
  const { id, ...rest } = message;
  // JSON-RPC 2.0 has null if the id could not be read; the protocol's schema has no id there.
  const isUnread = id === null && era === 'legacy' && 'error' in message;
  const shaped = JSONRPCMessageSchema.safeParse(isUnread ? rest : message);
  if (!shaped.success) throw new Error(`no message: ${JSON.stringify(message)}`);
  if (!('result' in message) || !method) return;
  const result = RESULTS[method].safeParse(message['result']);
  if (!result.success) throw new Error(`no result of ${method}: ${result.error.message}`);
  const { resultType } = message['result'] as Record<string, unknown>;
  if (era === 'modern' && typeof resultType !== 'string') {
    throw new Error('a modern result without resultType');
  }
}

/** Runs a check for each case, several at once. Returns a line for each case that broke a rule. */
export async function findFaults<T>(
  cases: readonly T[],
  nameOf: (value: T, index: number) => string,
  check: (value: T, index: number) => Promise<void>,
): Promise<string[]> {
  const faults: string[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const value = cases[index] as T;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer in ${ANSWER_MS} ms`)), ANSWER_MS);
      });
      await Promise.race([check(value, index), late]).catch((error: unknown) => {
        faults.push(`${nameOf(value, index)}: ${String(error).slice(0, 400)}`);
      });
      clearTimeout(timer);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return faults;
}
