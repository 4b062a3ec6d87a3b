/** In which era and by whom a call is made: what its server's verdict and its request say. */
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/servers/registry/server-schema.ts';
import { isAboutTasks, isRound } from '../../../src/upstream/protocol/wire-request.ts';

const LEGACY: Verdict = {
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
  ])('%j with %j goes on in the modern era: %s', (verdict, members, isOn) => {
    expect(isRound(verdict, request('tools/call', ...members))).toBe(isOn);
  });

  it.each([
    [request('tools/call', 'name'), false],
    [{ ...request('tools/call', 'name'), tasks: true }, true],
    [request('tasks/get', 'taskId'), true],
  ])('%j is about tasks, which the other era does not have: %s', (asked, isAbout) => {
    expect(isAboutTasks(asked)).toBe(isAbout);
  });
});
