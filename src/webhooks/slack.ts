/**
 * Formats an event as a message for a Slack incoming webhook. Untrusted names go into plain-text blocks, which Slack does not parse as
 * markup; in the notification line they are escaped, so no name can mention anybody or become a link. Pure.
 *
 * Source: docs.slack.dev, "Formatting message text" (escape `&`, `<` and `>`; `verbatim`) and "Sending messages using incoming webhooks".
 */
import { DataSchema, TEST_EVENT } from './event-types.ts';

/** Most tools named in a message; "…" stands for the others. */
const MAX_NAMED = 10;

interface Event {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Describes what happened in one sentence, with the names that belong to it. */
function describe({ type, data }: Event): { sentence: string; names: string[] } {
  const parsed = DataSchema.parse(data);
  const { server, principal, status, held = 0, tools = [], by, program } = parsed;
  const { denied = 0, minutes = 0 } = parsed;
  const name = server?.name ?? '';
  if (type === 'server.down') return { sentence: `Server ${name} is down.`, names: [] };
  if (type === 'server.auth_required') {
    return { sentence: `Server ${name} wants a valid credential.`, names: [] };
  }
  if (type === 'server.up') {
    const how = status === 'DEGRADED' ? ' again, not without problems' : '';
    return { sentence: `Server ${name} answers${how}.`, names: [] };
  }
  if (type === 'tool.held') {
    const named = tools.slice(0, MAX_NAMED).map(tool => tool.name || tool.kind);
    const more = tools.length > named.length ? ['…'] : [];
    const waits = `${held} of ${name} in all wait for an approval.`;
    return { sentence: `New or changed tools are held; ${waits}`, names: [...named, ...more] };
  }
  if (type === 'sign_in') {
    const way = program === undefined ? `signed in (${by})` : 'let a program in';
    const names = program === undefined ? [] : [program];
    return { sentence: `${principal?.name ?? ''} ${way}.`, names };
  }
  if (type === 'denials.rate') {
    const sentence = `${principal?.name ?? ''} was denied ${denied} calls in ${minutes} minutes.`;
    return { sentence, names: [] };
  }
  if (type === 'budget.reached') {
    const { group, calls_per_day: calls = 0 } = parsed;
    const whose = group ? `The group ${group.name}` : (principal?.name ?? '');
    return { sentence: `${whose} used up the budget of ${calls} calls a day.`, names: [] };
  }
  if (type === TEST_EVENT) return { sentence: 'This is a test.', names: [] };
  return { sentence: type, names: [] };
}

/** Builds the message. */
export function toSlackMessage(event: Event): object {
  const { sentence, names } = describe(event);
  const plain = (text: string) => ({
    type: 'section',
    text: { type: 'plain_text', text, emoji: false },
  });
  return {
    text: escaped(`Portico: ${sentence}`),
    blocks: [
      plain(`Portico: ${sentence}`),
      ...(names.length > 0 ? [plain(names.join('\n'))] : []),
      {
        type: 'context',
        elements: [
          { type: 'plain_text', text: `${event.type} · ${event.timestamp}`, emoji: false },
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}
