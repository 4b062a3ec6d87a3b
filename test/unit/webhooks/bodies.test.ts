/** Bodies of events: foreign names are bounded, on one line, and cannot contain Slack markup. */
import { describe, expect, it } from 'vitest';
import { toBody } from '../../../src/webhooks/event-body.ts';

const server = { id: 's1', name: 'files' };
const heldOf = (names: readonly string[]) => ({
  type: 'tool.held',
  occurredAt: Date.UTC(2026, 10, 2, 9),
  data: {
    server,
    held: names.length,
    tools: names.map(name => ({ kind: 'tool', name, state: 'pending' })),
  },
});

describe('a body', () => {
  it('[OPS-7] has type, time and data', () => {
    expect(JSON.parse(toBody('portico', heldOf(['read'])))).toEqual({
      type: 'tool.held',
      timestamp: '2026-11-02T09:00:00.000Z',
      data: { server, held: 1, tools: [{ kind: 'tool', name: 'read', state: 'pending' }] },
    });
  });

  it('[OPS-7] [SEC-7] has each text short, on one line and without invisible characters', () => {
    const names = ['a\u0000b\r\nc\u202ed', 'x'.repeat(5_000), '\ud800y'];
    const { data } = JSON.parse(toBody('portico', heldOf(names))) as {
      data: { tools: { name: string }[] };
    };
    expect(data.tools.map(({ name }) => name)).toEqual(['ab cd', `${'x'.repeat(199)}…`, 'y']);
  });
});

describe('a message for Slack', () => {
  const HOSTILE = '<!channel> <https://evil.example.com|click> & @here';

  it('[OPS-7] [SEC-7] neither mentions nor links anything by a name that a server chose', () => {
    const message = JSON.parse(toBody('slack', heldOf([HOSTILE]))) as {
      text: string;
      blocks: { type: string; text?: { type: string; text: string } }[];
    };
    expect(message).toMatchObject({ unfurl_links: false, unfurl_media: false });
    expect(message.text).not.toMatch(/[<>]/);
    expect(message.text).not.toContain('evil');
    const texts = JSON.stringify(message).match(/"type":"(?:mrkdwn|plain_text)"/g);
    expect(new Set(texts)).toEqual(new Set(['"type":"plain_text"']));
    expect(message.blocks[1]?.text).toMatchObject({ text: HOSTILE });
  });

  it('[OPS-7] escapes the names of administrators', () => {
    const down = {
      type: 'server.down',
      occurredAt: 0,
      data: { server: { id: 's', name: '<!a>&' } },
    };
    expect(JSON.parse(toBody('slack', down))).toMatchObject({
      text: 'Portico: Server &lt;!a&gt;&amp; is down.',
    });
  });

  it('[OPS-7] says which credential a server requires', () => {
    const data = { server: { id: 's', name: 'github' }, status: 'DEGRADED' };
    const refused = { type: 'server.auth_required', occurredAt: 0, data };
    expect(JSON.parse(toBody('slack', refused))).toMatchObject({
      text: 'Portico: Server github wants a valid credential.',
    });
  });

  it('[OPS-7] names ten tools of many', () => {
    const names = Array.from({ length: 12 }, (_, n) => `tool-${n}`);
    const text = toBody('slack', heldOf(names));
    expect(text).toContain('tool-9\\n…');
    expect(text).not.toContain('tool-10');
  });

  it.each([
    [
      'server.up',
      { server, status: 'DEGRADED' },
      'Server files answers again, not without problems.',
    ],
    ['server.up', { server, status: 'CONNECTED' }, 'Server files answers.'],
    ['sign_in', { principal: server, by: 'passkey' }, 'files signed in (passkey).'],
    ['sign_in', { principal: server, by: 'program', program: 'p' }, 'files let a program in.'],
    [
      'denials.rate',
      { principal: server, denied: 21, minutes: 10 },
      'files was denied 21 calls in 10 minutes.',
    ],
    [
      'budget.reached',
      { group: { name: 'dev' }, calls_per_day: 20 },
      'The group dev used up the budget of 20 calls a day.',
    ],
    [
      'budget.reached',
      { principal: server, calls_per_day: 20 },
      'files used up the budget of 20 calls a day.',
    ],
    ['of.another.version', {}, 'of.another.version'],
  ])('[OPS-7] describes the event: %s', (type, data, sentence) => {
    expect(JSON.parse(toBody('slack', { type, occurredAt: 0, data }))).toMatchObject({
      text: `Portico: ${sentence}`,
    });
  });
});
