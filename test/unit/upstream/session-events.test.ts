/** Messages that a server sends in a session beside its responses: who gets each one, without credentials. */
import { expect, it } from 'vitest';
import { takeEvent } from '../../../src/upstream/streams/session-events.ts';

const SECRET = 'sk-0123456789';

function take(method: string, params: object, hasStream = true) {
  const told: unknown[] = [];
  const text = JSON.stringify({ jsonrpc: '2.0', method, params });
  const by = { serverId: 's', hidden: [SECRET] };
  const isTaken = takeEvent({ method, text }, by, {
    onUpdated: (...given) => void told.push(given),
    onListChanged: serverId => void told.push(serverId),
    onLog(serverId, given) {
      if (hasStream) told.push([serverId, JSON.parse(given)]);
      return hasStream;
    },
  });
  return { isTaken, told };
}

it('[MCP-4] an update goes to the subscribers, a list change to the monitor, a log message to the stream', () => {
  const uri = 'note://a';
  expect(take('notifications/resources/updated', { uri })).toEqual({
    isTaken: true,
    told: [['s', uri, JSON.stringify({ uri })]],
  });
  for (const list of ['tools', 'prompts', 'resources']) {
    const changed = take(`notifications/${list}/list_changed`, {});
    expect(changed).toEqual({ isTaken: true, told: ['s'] });
  }
  const log = take('notifications/message', { level: 'info', data: 'x' });
  expect(log.told).toMatchObject([['s', { params: { level: 'info', data: 'x' } }]]);
});

it('[MCP-4] a log message without a stream, and everything unknown, is left to the calls', () => {
  expect(take('notifications/message', { data: 'x' }, false)).toEqual({ isTaken: false, told: [] });
  expect(take('notifications/else', {})).toEqual({ isTaken: false, told: [] });
});

it('[SEC-2] no message repeats a stored credential', () => {
  const log = take('notifications/message', { data: `key ${SECRET}!` });
  const update = take('notifications/resources/updated', { uri: `note://${SECRET}` });
  expect(JSON.stringify([log, update])).not.toContain(SECRET);
  expect(log.told).toMatchObject([['s', { params: { data: 'key [redacted]!' } }]]);
});

it('[SEC-9] overlong messages are dropped', () => {
  const data = 'x'.repeat(1_100_000);
  expect(take('notifications/message', { data }).told).toEqual([]);
  expect(take('notifications/resources/updated', { uri: data }).told).toEqual([]);
});
