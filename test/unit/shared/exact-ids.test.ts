/** Ids beyond 2^53: read exactly wherever a message names one, repeated digit by digit, and never confused with another. */
import { describe, expect, it } from 'vitest';
import { errorText } from '../../../cli/src/stdio/refusal.ts';
import { RelayError } from '../../../cli/src/stdio/refusal.ts';
import { idFromEnds, parseMessage as parseLine } from '../../../cli/src/stdio/message.ts';
import { readMessage } from '../../../cli/src/connect/child-message.ts';
import { withExactIds } from '../../../src/shared/json/json-spans.ts';
import { idText, isRequestId } from '../../../src/shared/protocol.ts';
import { parseMessage, toAnswerText } from '../../../src/upstream/protocol/message.ts';
import { cancelledId } from '../../../src/upstream/protocol/server-request.ts';
import { createRandom, SEED } from '../seeded.ts';

const read = (text: string) => withExactIds(JSON.parse(text), text) as Record<string, unknown>;
const idOf = (raw: string) => read(`{"jsonrpc":"2.0","id":${raw},"method":"ping"}`)['id'];

/** Each rounds to its neighbour. */
const BIG = ['9007199254740992', '9007199254740993', '-9007199254740993', '1'.repeat(400)];

describe('an id', () => {
  it.each(BIG)('[MCP-5] beyond 2^53 keeps its digits: %s', raw => {
    expect(isRequestId(idOf(raw))).toBe(true);
    expect(idText(idOf(raw) as bigint)).toBe(raw);
  });

  it.each(['9007199254740991', '-1', '0', '1e3', '1.0', '"9007199254740993"'])(
    '[MCP-5] that a number or a string holds exactly is unchanged: %s',
    raw => expect(idOf(raw)).toBe(JSON.parse(raw)),
  );

  it.each(['1.5', '1e20', '9007199254740993.0', '1e999', '1'.repeat(1_001), 'null', '{}', '[]'])(
    '[MCP-5] in another form is refused: %s',
    raw => expect(isRequestId(idOf(raw))).toBe(false),
  );

  it(`[MCP-5] never equals another (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 2_000; round += 1) {
      const near = 2n ** BigInt(50 + random.below(60)) + BigInt(random.below(8));
      const [one, other] = [near, near + 1n].map(String) as [string, string];
      expect(idOf(one)).not.toBe(idOf(other));
      expect(new Map([[idOf(one), 1]]).get(idOf(one))).toBe(1);
      expect(idText(idOf(one) as bigint)).toBe(one);
    }
  });
});

describe('a message', () => {
  it('[MCP-5] has every id exact, and all else unchanged', () => {
    const text =
      '{"id": 9007199254740993 ,"params":{"requestId":9007199254740995,"progressToken":9007199254740997,' +
      '"_meta":{"progressToken":9007199254740999,"n":9007199254740993},"arguments":{"id":9007199254740993}}}';
    expect(read(text)).toEqual({
      id: 9_007_199_254_740_993n,
      params: {
        requestId: 9_007_199_254_740_995n,
        progressToken: 9_007_199_254_740_997n,
        _meta: { progressToken: 9_007_199_254_740_999n, n: 2 ** 53 },
        arguments: { id: 2 ** 53 },
      },
    });
  });

  it('[MCP-5] of a batch is read separately', () => {
    const text = '[ {"id":1}, 7, {"id":9007199254740993} , [{"id":9007199254740993}], null]';
    expect(withExactIds(JSON.parse(text), text)).toEqual([
      { id: 1 },
      7,
      { id: 9_007_199_254_740_993n },
      [{ id: 2 ** 53 }],
      null,
    ]);
  });

  it('[MCP-5] with a duplicate member has the id that JSON.parse takes', () => {
    expect(read('{"id":1,"id":9007199254740993}')['id']).toBe(9_007_199_254_740_993n);
    expect(read('{"id":9007199254740993,"id":1}')['id']).toBe(1);
  });
});

describe('a server', () => {
  it('[MCP-4] [MCP-5] that sends a request under such an id is answered under it, and can cancel it', () => {
    const text = '{"jsonrpc":"2.0","id":9007199254740993,"method":"roots/list"}';
    const message = parseMessage(text, 1);
    if (message.kind !== 'request') throw new Error(`is a ${message.kind}`);
    expect(toAnswerText(message.id, { result: '{}' })).toContain('"id":9007199254740993,');
    const method = 'notifications/cancelled';
    const back = `{"jsonrpc":"2.0","method":"${method}","params":{"requestId":9007199254740993}}`;
    expect(cancelledId(method, back)).toBe(message.id);
    const other = back.replace('993', '992');
    expect(cancelledId(method, other)).not.toBe(message.id);
  });
});

describe('the command line', () => {
  it('[CLI-1] [CLI-2] [MCP-5] reads the ids of hosts and programs exactly', () => {
    const line = '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}';
    const id = 9_007_199_254_740_993n;
    expect(parseLine(line)).toMatchObject({ kind: 'request', id });
    expect(parseLine(`[${line}]`)).toMatchObject({ kind: 'batch', ids: [id] });
    expect(readMessage(line)).toMatchObject({ kind: 'request', id });
    expect(idFromEnds('{"id":9007199254740993,"method":"a', '')).toBe(id);
    expect(errorText(id, new RelayError('no'))).toContain('"id":9007199254740993,');
  });
});
