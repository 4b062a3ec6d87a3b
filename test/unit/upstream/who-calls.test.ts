/** In which era and for which caller a call is made, by the negotiated protocol of its server and the request. */
import { describe, expect, it } from 'vitest';
import type { ServerProtocol } from '../../../src/servers/registry/server-schema.ts';
import {
  callerOf,
  isAboutTasks,
  isContinuation,
} from '../../../src/upstream/protocol/wire-request.ts';
import type { CallContext } from '../../../src/upstream/protocol/call.ts';

const LEGACY: ServerProtocol = {
  era: 'legacy',
  protocolVersion: '2025-11-25',
  transport: 'http',
  sessionful: true,
};
const BOTH = { ...LEGACY, modernVersion: '2026-07-28' };
const request = (method: string, ...members: string[]) => ({
  method,
  params: new Map(members.map(member => [member, '{}'])),
});

describe('[MCP-5] a call of a legacy client', () => {
  it.each([
    [BOTH, ['name'], false],
    [BOTH, ['name', 'inputResponses'], true],
    [BOTH, ['name', 'requestState'], true],
    [LEGACY, ['name', 'inputResponses', 'requestState'], false],
  ])('%j with %j continues in the modern era: %s', (verdict, members, isOn) => {
    expect(isContinuation(verdict, request('tools/call', ...members))).toBe(isOn);
  });

  it.each([
    [request('tools/call', 'name'), false],
    [{ ...request('tools/call', 'name'), tasks: true }, true],
    [request('tasks/get', 'taskId'), true],
  ])('%j concerns tasks, which the other era does not have: %s', (asked, isAbout) => {
    expect(isAboutTasks(asked)).toBe(isAbout);
  });
});

describe('[MCP-5] [EDGE-2] the caller of a call', () => {
  const MODERN: ServerProtocol = { ...LEGACY, era: 'modern', protocolVersion: '2026-07-28' };
  const SSE: ServerProtocol = { ...LEGACY, transport: 'sse' };
  const STATELESS = { ...LEGACY, sessionful: false };
  const of = (questions: CallContext['questions'], capabilities = {}) =>
    ({ questions, capabilities }) as CallContext;
  const SUSPENDS = of('suspend', { elicitation: {} });
  const ASKS = of('ask', { elicitation: {} });
  const SILENT = of('suspend');
  const call = request('tools/call', 'name');
  const retry = request('tools/call', 'name', 'requestState');
  const logged = { ...call, logLevel: 'info' as const };
  const inTask = { ...call, tasks: true };

  it.each([
    ['at a modern server', MODERN, call, SUSPENDS, 'worker'],
    ['of a client that is asked meanwhile', LEGACY, call, ASKS, 'worker'],
    ['of a client that cannot be asked', LEGACY, call, SILENT, 'worker'],
    ['of a client that answers with its next request', LEGACY, call, SUSPENDS, 'either'],
    ['that goes on with one that waits', LEGACY, retry, SUSPENDS, 'object'],
    ['over HTTP+SSE', SSE, call, SILENT, 'object'],
    ['whose log messages come in a session', LEGACY, logged, SILENT, 'object'],
    ['whose log messages come on its own stream', STATELESS, logged, SILENT, 'worker'],
    ['that may become a task', LEGACY, inTask, SUSPENDS, 'object'],
  ])('%s', (_what, verdict, asked, context, caller) => {
    expect(callerOf(verdict, asked, context)).toBe(caller);
  });
});
