/** Which calls are reported as uses to the learning search. */
import { describe, expect, it } from 'vitest';

import { noteUse, type Uses } from '../../../src/gateway/steps/note-use.ts';
import type { Resolved } from '../../../src/gateway/resolve.ts';
import type { Viewer } from '../../../src/gateway/viewer.ts';
import type { CallReply } from '../../../src/upstream/protocol/call.ts';
import type { RawResponse } from '../../../src/upstream/protocol/message.ts';
import { createRecord } from './fakes.ts';

const server = createRecord('desk');
const resolved: Resolved = { server, name: 'echo', item: { key: 'echo', raw: new Map() } };
const viewer = { caller: { principalId: 'ada' } } as unknown as Pick<Viewer, 'caller'>;
const context = { waitUntil: () => {} };
const answer = (parsed: object): RawResponse => {
  const result = JSON.stringify(parsed);
  return { kind: 'response', result, parsed: parsed as RawResponse['parsed'] };
};
const failure: RawResponse = { kind: 'response', error: '{"code":1}', parsed: { code: 1 } };
const DONE = answer({ content: [] });

/** The reported uses of a reply once all of it was read. */
async function toldOf(
  reply: CallReply,
  more: { method?: 'tools/call' | 'prompts/get'; resolved?: Resolved } = {},
): Promise<string[]> {
  const told: string[] = [];
  const uses: Uses = {
    searched: () => {},
    called: (principalId, used) => told.push(`${principalId} ${used.server.name} ${used.item.key}`),
  };
  const request = { method: more.method ?? 'tools/call' };
  const noted = noteUse(uses, viewer, request, more.resolved ?? resolved, context, reply);
  if ('messages' in noted) for await (const message of noted.messages) void message;
  return told;
}

async function* streamOf(...messages: RawResponse[]) {
  yield { kind: 'notification', method: 'notifications/progress', text: '{}' } as const;
  yield* messages;
}

describe('use', () => {
  it('[FIND-4] is reported for a call that succeeded, answered whole or as a stream', async () => {
    expect(await toldOf({ response: DONE })).toEqual(['ada desk echo']);
    const complete = answer({ content: [], resultType: 'complete' });
    expect(await toldOf({ response: complete })).toEqual(['ada desk echo']);
    expect(await toldOf({ messages: streamOf(DONE) })).toEqual(['ada desk echo']);
  });

  it('[FIND-4] is not reported for failures, server requests, tasks and answers that never come', async () => {
    const others = [
      failure,
      answer({ content: [], isError: true }),
      answer({ resultType: 'input_required' }),
      answer({ resultType: 'task' }),
      answer({ task: { taskId: 't', status: 'working' } }),
    ];
    for (const response of others) {
      expect(await toldOf({ response })).toEqual([]);
      expect(await toldOf({ messages: streamOf(response) })).toEqual([]);
    }
    expect(await toldOf({ messages: streamOf() })).toEqual([]);
  });

  it('[FIND-4] is reported only for tools, and only for those in the catalog', async () => {
    expect(await toldOf({ response: DONE }, { method: 'prompts/get' })).toEqual([]);
    expect(await toldOf({ response: DONE }, { resolved: { server, name: 'echo' } })).toEqual([]);
  });
});
