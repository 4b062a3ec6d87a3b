/** Log levels of sessions and connections: set once per change, without failing a call. */
import { describe, expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { Channel } from '../../../src/upstream/session/channel.ts';
import { SessionForgotten } from '../../../src/upstream/exchange.ts';
import { LogLevels } from '../../../src/upstream/session/log-levels.ts';

/** A channel that notes the levels set on it, and fails with `failure` if given. */
function createChannel(failure?: Error) {
  const set: unknown[] = [];
  const channel: Channel = {
    async request(method, params) {
      set.push(`${method} ${params.get('level')}`);
      if (failure) throw failure;
      return { kind: 'response', result: '{}', parsed: {} };
    },
    notify: () => Promise.resolve(),
    close() {},
  };
  return { channel, set };
}

describe('LogLevels', () => {
  it('[MCP-4] sets a level once per change, for each session', async () => {
    const levels = new LogLevels();
    const { channel, set } = createChannel();
    for (const level of ['info', 'info', 'debug', undefined, 'debug'] as const) {
      await levels.inSession('a', () => channel, level);
    }
    await levels.inSession('b', () => channel, 'debug');
    expect(set).toEqual(['info', 'debug', 'debug'].map(level => `logging/setLevel "${level}"`));
  });

  it('[MCP-4] sets it once per change on each HTTP+SSE connection', async () => {
    const levels = new LogLevels();
    const first = createChannel();
    const second = createChannel();
    for (const { channel } of [first, first, second]) await levels.onConnection(channel, 'error');
    await levels.onConnection(first.channel, undefined);
    expect([first.set, second.set]).toEqual([
      ['logging/setLevel "error"'],
      ['logging/setLevel "error"'],
    ]);
  });

  it('[MCP-12] lets the call continue if the server refuses, and does not ask again', async () => {
    const levels = new LogLevels();
    const { channel, set } = createChannel(new PorticoError('upstream_4xx'));
    await levels.inSession('a', () => channel, 'info');
    await levels.inSession('a', () => channel, 'info');
    expect(set).toHaveLength(1);
  });

  it('[UP-2] reports a session that the server forgot, before the call is made', async () => {
    const levels = new LogLevels();
    const { channel } = createChannel(new SessionForgotten());
    await expect(levels.inSession('a', () => channel, 'info')).rejects.toBeInstanceOf(
      SessionForgotten,
    );
  });
});
