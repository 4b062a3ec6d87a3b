/** When a request has ended, and its outcome. */
import { expect, it } from 'vitest';
import { Operation, type EndedOperation } from '../../../src/telemetry/operation.ts';

const FACTS = {
  server: 's',
  transportType: 'HTTP',
  url: 'https://s.example',
  method: 'tools/call',
};

function begin() {
  const ended: EndedOperation[] = [];
  const operation = new Operation(
    end => void ended.push(end),
    () => undefined,
    false,
  );
  return { operation, ended };
}

it('[OPS-7] it ends once, when the last thing that it holds ends', () => {
  const { operation, ended } = begin();
  const release = operation.hold();
  const sending = operation.sends(FACTS);
  operation.release();
  release();
  release();
  expect(ended).toEqual([]);
  sending.ends({ outcome: 'tool_error' });
  sending.ends({ outcome: 'ok' });
  expect(ended).toHaveLength(1);
  expect(ended[0]?.outcome).toBe('tool_error');
  expect(ended[0]?.sendings.map(({ outcome }) => outcome)).toEqual(['tool_error']);
});

it('[OPS-7] the last reported outcome counts', () => {
  const { operation, ended } = begin();
  operation.sends(FACTS).ends({ outcome: 'ok' });
  operation.ends({ outcome: 'failed', code: 'upstream_bad_message' });
  operation.release();
  expect(ended[0]).toMatchObject({ outcome: 'failed', code: 'upstream_bad_message' });
});

it('[OPS-7] of very many requests to servers it records the first ones', () => {
  const { operation, ended } = begin();
  for (let n = 0; n < 100; n += 1) operation.sends(FACTS).ends({ outcome: 'ok' });
  operation.release();
  expect(ended[0]?.sendings).toHaveLength(64);
});
