/** The output of a child process, split, counted and masked: the pure parts of `cli/src/connect/`. */
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../../cli/src/connect/child-environment.ts';
import { readMessage, rawAt, withMembers } from '../../../cli/src/connect/child-message.ts';
import { backoffMs, LIMITS } from '../../../cli/src/connect/limits.ts';
import { GarbageMeter, LineReader, LineTooLong } from '../../../cli/src/connect/line-reader.ts';
import { StderrTail } from '../../../cli/src/connect/stderr-tail.ts';
import { createRandom, SEED } from '../seeded.ts';

const encode = (text: string) => new TextEncoder().encode(text);

describe('[CLI-1] lines of a child', () => {
  it(`are the same however the bytes are split (seed ${SEED})`, () => {
    const random = createRandom();
    const lines = ['', '{"a":1}', 'ü€\u{1F680}', 'x'.repeat(300), '\r'];
    for (let round = 0; round < 200; round++) {
      const wanted = Array.from({ length: 8 }, () => random.pick(lines));
      const bytes = encode(wanted.map(line => `${line}\n`).join(''));
      const reader = new LineReader(300);
      const found: string[] = [];
      for (let from = 0; from < bytes.length;) {
        const to = from + 1 + random.below(64);
        found.push(...reader.push(bytes.subarray(from, to)));
        from = to;
      }
      expect(found).toEqual(wanted);
    }
  });

  it('are bounded, also before their end has arrived', () => {
    const reader = new LineReader(10);
    expect([...reader.push(encode('0123456789\n01234'))]).toEqual(['0123456789']);
    expect(() => [...reader.push(encode('567890'))]).toThrow(LineTooLong);
  });

  it('that are no messages are counted, and too many in a short time are detected', () => {
    const meter = new GarbageMeter(100, 1_000);
    expect(meter.add(60, 5_000)).toBe(false);
    expect(meter.add(40, 5_500)).toBe(false);
    expect(meter.add(1, 5_999)).toBe(true);
    expect(meter.add(100, 6_000)).toBe(false);
    expect(meter.lines).toBe(4);
  });
});

describe('[CLI-1] messages of a child', () => {
  it.each([
    ['nothing', ''],
    ['text', 'listening on port 3000'],
    ['another JSON', '{"level":"info"}'],
    ['an array', '[{"jsonrpc":"2.0","method":"a"}]'],
    ['another version', '{"jsonrpc":"1.0","method":"a"}'],
    ['a request under no id', '{"jsonrpc":"2.0","id":null,"method":"a"}'],
    ['an id alone', '{"jsonrpc":"2.0","id":1}'],
  ])('are not %s', (_what, line) => {
    expect(readMessage(line)).toBeUndefined();
  });

  it('pass with one member replaced and every other byte unchanged', () => {
    const line =
      '{"x":1.0,"jsonrpc":"2.0", "id":7,"result":{"_meta":{"k":1E2,"a/b.c":7},"z":[1, 2]}}\r';
    const message = readMessage(line);
    expect(message).toMatchObject({ kind: 'response', id: 7, isError: false });
    const raw = message?.raw ?? new Map<string, string>();
    expect(rawAt(raw, 'result', '_meta', 'a/b.c')).toBe('7');
    expect(rawAt(raw, 'result', 'z', 'k')).toBeUndefined();
    const changed = withMembers(raw, [['id'], '"mine"'], [['result', '_meta', 'a/b.c'], '8.0']);
    expect(changed).toBe(
      '{"x":1.0,"jsonrpc":"2.0","id":"mine","result":{"_meta":{"k":1E2,"a/b.c":8.0},"z":[1, 2]}}',
    );
    expect(rawAt(raw, 'result', '_meta', 'a/b.c')).toBe('7');
  });
});

describe('[CLI-1] the error output of a child', () => {
  const secret = 'sk-0123456789abcdef';

  it(`is kept without secrets, wherever it was split (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 500; round++) {
      const tail = new StderrTail(60, [secret, 'true']);
      const said = `${'.'.repeat(random.below(80))}${secret}${'-'.repeat(random.below(80))}true`;
      for (let from = 0; from < said.length;) {
        const to = from + 1 + random.below(30);
        tail.push(Buffer.from(said.slice(from, to)));
        from = to;
      }
      const kept = tail.last();
      expect(kept.length).toBeLessThanOrEqual(60);
      for (let at = 0; at + 6 <= secret.length; at++) {
        expect(kept).not.toContain(secret.slice(at, at + 6));
      }
      expect(kept.endsWith('true')).toBe(true);
    }
  });

  it('is masked also before the rest of a secret has arrived', () => {
    const tail = new StderrTail(1_000, [secret]);
    tail.push(Buffer.from(`key ${secret.slice(0, 9)}`));
    expect(tail.last()).toBe('key ***');
    tail.push(Buffer.from('!'));
    expect(tail.last()).toBe(`key ${secret.slice(0, 9)}!`);
  });

  it('is masked line by line for a multi-line value', () => {
    const tail = new StderrTail(1_000, ['-----BEGIN KEY-----\nMIIEvQIBADAN\n']);
    tail.push(Buffer.from('key: MIIEvQIBADAN!'));
    expect(tail.last()).toBe('key: ***!');
    expect(tail.last(5)).toBe(' ***!');
    expect(tail.clean('cannot use MIIEvQIBADAN')).toBe('cannot use ***');
  });
});

describe('[CLI-1] the environment of a child', () => {
  it('has what programs need, and the configured variables over it', () => {
    const own = { PATH: '/bin', HOME: '/h', AWS_SECRET_ACCESS_KEY: 'x', SHELL: '() { :; }' };
    expect(childEnvironment(own, { PATH: '/own', TOKEN: 't' }, 'linux')).toEqual({
      PATH: '/own',
      HOME: '/h',
      TOKEN: 't',
    });
    const windows = { SYSTEMROOT: 'C', HOME: '/h', PATHEXT: '.EXE' };
    expect(childEnvironment(windows, {}, 'win32')).toEqual({ SYSTEMROOT: 'C', PATHEXT: '.EXE' });
  });
});

describe('[CLI-1] restarts', () => {
  it('follow pauses that double up to a bound, with jitter', () => {
    const failures = [1, 2, 3, 4, 5, 7, 8, 50];
    const most = (wasReady: boolean) =>
      failures.map(count => backoffMs(count, wasReady, LIMITS, 1));
    expect(most(false)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 30_000, 30_000, 30_000]);
    expect(most(true)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
    expect(backoffMs(2, false, LIMITS, 0)).toBe(500);
  });
});
