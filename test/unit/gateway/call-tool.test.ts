/** A call for a caller that needs a whole result: the request to the gateway, and a server request that nobody can answer. */
import { expect, it } from 'vitest';
import { callTool } from '../../../src/gateway/call-tool.ts';
import { DOT_NAMING } from '../../../src/gateway/viewer.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord } from './fakes.ts';

const server = createRecord('alpha');

/** Calls a tool whose result is this; returns the row's correction and the request. */
async function called(parsed: object) {
  const replaced: string[] = [];
  const asked: unknown[] = [];
  const response = { kind: 'response', result: '{}', parsed: { ...parsed } } as const;
  const request: Gateway['request'] = (_viewer, given, context) => {
    asked.push({ ...given, questions: context.questions, capabilities: context.capabilities });
    return Promise.resolve({
      server,
      reply: { response },
      retry: () => Promise.reject(new Error('no')),
      onReplaced: code => void replaced.push(code),
    });
  };
  const answer = await callTool(
    { request },
    {
      viewer: { caller: createCaller(), visible: { servers: [server] }, naming: DOT_NAMING },
      name: 'alpha.echo',
      args: '{"n":1}',
      source: 'rest',
      context: { signal: new AbortController().signal, owner: () => 'o', waitUntil: () => {} },
    },
  );
  expect(answer.server).toBe(server);
  return { response: answer.response, given: response, replaced, asked };
}

it('[REG-7] a result is returned unchanged', async () => {
  const { response, given, replaced, asked } = await called({ resultType: 'complete' });
  expect(response).toBe(given);
  expect(replaced).toEqual([]);
  expect(asked).toMatchObject([
    {
      method: 'tools/call',
      reference: { kind: 'tool', name: 'alpha.echo' },
      params: new Map([['arguments', '{"n":1}']]),
      source: 'rest',
      questions: 'ask',
      capabilities: {},
    },
  ]);
});

it('[REG-7] [SEC-6] a server request cannot be answered, and the row of the call says so', async () => {
  const { response, replaced } = await called({ resultType: 'input_required' });
  expect(response).toBeUndefined();
  expect(replaced).toEqual(['upstream_needs_input']);
});
