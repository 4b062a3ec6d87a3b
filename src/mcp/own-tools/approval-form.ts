/**
 * Asks a person, with one form (MCP 2026-07-28 and 2025-11-25, elicitation), about the calls of a chat that need a decision, and reads the
 * answer. Only an explicit yes approves a call; closing the form decides nothing. Pure.
 */
import type { CallView } from '../../agents/chat/chat-events.ts';
import type { ContinueChat } from '../../agents/chat/chat-schema.ts';
import { toVisible } from '../../shared/util/visible-text.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Key of the form among the input requests of a round. */
const FORM_KEY = 'approval';
/** Longest arguments of a call that are shown, as JSON in UTF-16 units. */
const MAX_SHOWN_CHARS = 2_000;

const visible = (text: string) => toVisible(text, () => false);

/** One line for each call: a person has to see exactly what would be sent. */
function toLine({ id, name, arguments: given }: CallView): string {
  const text = visible(JSON.stringify(given));
  const cut = text.slice(0, MAX_SHOWN_CHARS).replace(/[\uD800-\uDBFF]$/, '');
  const more = text.length - cut.length;
  return `${id}: ${visible(name)} ${cut}${more > 0 ? `… (${more} more characters)` : ''}`;
}

/** Returns the `inputRequests` of an `input_required` result. */
export function toInputRequests(pending: readonly CallView[]): JsonObject {
  const properties = pending.map(({ id, name }) => [
    id,
    { type: 'boolean', title: `Make ${id}: ${visible(name)}`, default: false },
  ]);
  const params = {
    message: ['The model wants to call:', ...pending.map(toLine)].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(properties) as JsonObject,
      required: pending.map(({ id }) => id),
    },
  };
  return { [FORM_KEY]: { method: 'elicitation/create', params } };
}

/**
 * Reads the person's decisions from the `inputResponses` of the next round.
 * @param pending the calls that the form asked about and that still wait
 * @returns undefined where nothing was decided
 */
export function toDecisions(
  responses: unknown,
  pending: readonly CallView[],
): ContinueChat['decisions'] | undefined {
  const answer = isObject(responses) ? responses[FORM_KEY] : undefined;
  if (!isObject(answer) || pending.length === 0) return undefined;
  const { action, content } = answer;
  if (action === 'decline') return pending.map(({ id }) => ({ call_id: id, approve: false }));
  if (action !== 'accept' || !isObject(content)) return undefined;
  return pending.map(({ id }) => ({ call_id: id, approve: content[id] === true }));
}
