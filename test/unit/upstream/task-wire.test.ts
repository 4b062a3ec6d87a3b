/** What a server of either era gets about tasks, and that a failed task does not show the credential. */
import { describe, expect, it } from 'vitest';
import { taskWithoutSecrets, withoutSecrets } from '../../../src/upstream/protocol/message.ts';
import { paramsFor } from '../../../src/upstream/protocol/wire-request.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const hidden = ['Bearer s3cret-canary', 's3cret-canary', 'key-canary-1'];

describe('a `task` parameter', () => {
  const params = (meta: object) =>
    new Map([
      ['name', '"a"'],
      ['task', '{"ttl":1}'],
      ['_meta', JSON.stringify(meta)],
    ]);

  it('[MCP-4] [MCP-5] of a modern client does not reach a legacy server, all others do', () => {
    const modern = params({ [VERSION]: '2026-07-28' });
    expect([...paramsFor('legacy', modern).keys()]).toEqual(['name']);
    expect(paramsFor('modern', modern).get('task')).toBe('{"ttl":1}');
    expect(paramsFor('legacy', params({ a: 1 })).get('task')).toBe('{"ttl":1}');
    expect(paramsFor('legacy', params({ 'a\\b': 1 })).get('task')).toBe('{"ttl":1}');
    expect(modern.get('task')).toBe('{"ttl":1}');
  });
});

describe('a failed task', () => {
  const error = { code: -1, message: 'Bad header s3cret-canary, key-canary-1' };
  const task = { taskId: 't', status: 'failed', n: 1, error, note: 's3cret-canary' };

  it('[SEC-2] does not show the credential of its server', () => {
    const parsed = task as Record<string, unknown>;
    const response = { kind: 'response' as const, result: JSON.stringify(task), parsed };
    const kept = withoutSecrets(response, hidden);
    const result = 'result' in kept ? kept.result : '';
    expect(JSON.parse(result)).toEqual({
      ...task,
      error: { code: -1, message: 'Bad header [redacted], [redacted]' },
    });
    expect(taskWithoutSecrets(response.result, hidden)).toBe(result);
    expect(taskWithoutSecrets('{"taskId":"t"}', hidden)).toBe('{"taskId":"t"}');
  });

  it('[MCP-7] is the only result that is searched for it', () => {
    const parsed = { content: [], error: 'x' };
    const result = '{"content":[], "error":"s3cret-canary"}';
    const response = { kind: 'response' as const, result, parsed };
    expect(withoutSecrets(response, hidden)).toBe(response);
  });
});
