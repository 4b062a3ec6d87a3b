/** Which log messages of a call reach its caller. */
import { describe, expect, it } from 'vitest';
import { isWanted, withLogLevel } from '../../../src/gateway/results/messages.ts';
import type { LogLevel } from '../../../src/shared/protocol.ts';
import type { CallMessages } from '../../../src/upstream/protocol/call.ts';

const log = (level: unknown) => ({
  kind: 'notification' as const,
  method: 'notifications/message',
  text: JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level, data: 1 },
  }),
});
const progress = { kind: 'notification' as const, method: 'notifications/progress', text: '{}' };
const response = { kind: 'response' as const, result: '{}', parsed: {} };

async function* messages(): CallMessages {
  yield log('debug');
  yield log('warning');
  yield progress;
  yield log('loud');
  yield response;
  await Promise.resolve();
}

async function passed(level: LogLevel | 'none' | undefined) {
  const texts: string[] = [];
  for await (const message of withLogLevel(messages(), level)) {
    texts.push(
      'text' in message ? (/"level":"(\w+)"/.exec(message.text)?.[1] ?? 'other') : message.kind,
    );
  }
  return texts.join(' ');
}

describe('log messages of a call', () => {
  it('[MCP-4] all pass if the server may decide', async () => {
    expect(await passed(undefined)).toBe('debug warning other loud response');
  });

  it('[MCP-4] none passes to a modern request that asked for none', async () => {
    expect(await passed('none')).toBe('other response');
  });

  it('[MCP-4] pass from the requested level on', async () => {
    expect(await passed('debug')).toBe('debug warning other loud response');
    expect(await passed('warning')).toBe('warning other loud response');
    expect(await passed('error')).toBe('other loud response');
  });

  it('[MCP-4] pass if their level is unknown', () => {
    for (const text of ['{}', '{"params":null}', '{"params":["debug"]}', '{"params":{}}']) {
      expect([text, isWanted(text, 'error')]).toEqual([text, true]);
      expect([text, isWanted(text, 'none')]).toEqual([text, false]);
    }
    expect(isWanted('not JSON', undefined)).toBe(true);
  });
});
