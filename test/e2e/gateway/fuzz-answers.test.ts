/** Hostile servers: broken bytes, broken messages, broken streams, as a client sees them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, loadCorpus } from '../../fixtures/corpora.ts';
import { memberAt } from '../../fixtures/raw-json.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import {
  open,
  resultOf,
  textOf,
  type Answer,
  type Era,
  type RawClient,
} from '../support/raw-client.ts';
import {
  resultText,
  startScripted,
  type ScriptedAnswer,
  type ScriptedUpstream,
} from '../support/scripted-upstream.ts';
import { checkAnswer, findFaults } from '../support/soundness.ts';

const ERAS = ['legacy', 'modern'] as const;
/** Eras of the client and of the server. */
const CELLS = ERAS.flatMap(client => ERAS.map(server => [client, server] as const));
const json = loadCorpus('json-parsing');
const naughty = loadCorpus('naughty-strings');
const protocol = loadCorpus('protocol-fuzz');
const streams = loadCorpus('sse-vectors');

const EMPTY = '"content":[]';
const SAY = { name: 'say', inputSchema: { type: 'object' } };
const asEvent = (text: string) => `data: ${text.replaceAll(/\r\n?|\n/gu, '\ndata: ')}\n\n`;

let gateway: Gateway;
const upstreams: ScriptedUpstream[] = [];
const clients = {} as Record<Era, RawClient>;
/** The responses to the next calls, by the number that the call carries. */
const answers = new Map<number, (id: number, complete: string) => ScriptedAnswer>();
let lastNumber = 0;

beforeAll(async () => {
  gateway = await startGateway({
    // Every call must reach its server and end with its response.
    env: { PORTICO_CALL_TIMEOUT_MS: '100000', PORTICO_CIRCUIT_FAILURES: '1000000' },
  });
  for (const era of ERAS) {
    const complete = era === 'modern' ? '"resultType":"complete",' : '';
    const scripted = await startScripted(
      era,
      { 'tools/list': { member: 'tools', items: [SAY] } },
      call => {
        const make = answers.get(Number(call.arguments['number']));
        return make?.(call.id, complete) ?? { status: 418, body: '' };
      },
    );
    upstreams.push(scripted);
    await gateway.register(`say-${era}`, scripted.url);
  }
  const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  for (const era of ERAS) clients[era] = await open(era, target);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.close()));
});

/** Makes a server of one era give this response to a call of a client of another. */
async function say(
  client: Era,
  server: Era,
  make: (id: number, complete: string) => ScriptedAnswer,
): Promise<Answer> {
  const number = ++lastNumber;
  answers.set(number, make);
  const answer = await clients[client].call(`say-${server}.say`, { number });
  answers.delete(number);
  checkAnswer(answer, client, 'tools/call');
  return answer;
}

const reasonOf = (answer: Answer) => resultOf(answer)._meta?.['portico/reason'];

describe('a response of a server', () => {
  it.each(CELLS)(
    `[MCP-12] [MCP-7] that is or is not JSON, %s client, %s server (${json.origin})`,
    async (client, server) => {
      const faults = await findFaults(
        json.cases,
        ({ name }) => name,
        async each => {
          const bytes = bytesOf(each);
          // As a whole body it is no response to the call, whether it is JSON or not.
          const whole = await say(client, server, () => ({ body: bytes }));
          expect(reasonOf(whole)).toMatch(/^upstream_(bad_json|bad_message|no_response)$/u);
          const inside = await say(client, server, (id, complete) => {
            const head = `{"jsonrpc":"2.0","id":${id},"result":{${complete}${EMPTY},"_meta":{"v":`;
            return { body: Buffer.concat([Buffer.from(head), bytes, Buffer.from('}}}')]) };
          });
          const passed = memberAt(inside.resultText ?? '{}', '_meta', 'v');
          const outcomes = {
            accept: passed === bytes.toString('utf8').trim(),
            reject: reasonOf(inside) === 'upstream_bad_json',
            either: true,
          };
          expect(outcomes[each.expect]).toBe(true);
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(CELLS)(
    `[MCP-12] that is a broken message, %s client, %s server (${protocol.origin})`,
    async (client, server) => {
      const nameOf = ({ generator, name }: { generator: string; name: string }) =>
        `${generator} ${name}`;
      const faults = await findFaults(protocol.cases, nameOf, async each => {
        const bytes = bytesOf(each);
        const alone = await say(client, server, () => ({ body: bytes }));
        expect(resultOf(alone).isError).toBe(true);
        await say(client, server, () => ({
          type: 'text/event-stream',
          body: asEvent(bytes.toString('utf8')),
        }));
        // What comes before the response may break the call, but never the client.
        await say(client, server, (id, complete) => ({
          type: 'text/event-stream',
          body: asEvent(bytes.toString('utf8')) + asEvent(resultText(id, `{${complete}${EMPTY}}`)),
        }));
      });
      expect(faults).toEqual([]);
    },
  );

  it.each(CELLS)(
    `[MCP-12] [SEC-4] that is a response with bytes changed, %s client, %s server (seed ${SEED})`,
    async (client, server) => {
      const random = createRandom();
      const flaws = Array.from(
        { length: 150 },
        () => [random.next(), random.below(256), random.chance(0.5)] as const,
      );
      const faults = await findFaults(
        flaws,
        flaw => flaw.join(' '),
        async ([where, byte, asStream]) => {
          await say(client, server, (id, complete) => {
            const text = resultText(
              id,
              `{${complete}${EMPTY},"structuredContent":{"a":[1,{"b":null}]}}`,
            );
            const bytes = Buffer.from(asStream ? asEvent(text) : text);
            bytes[Math.floor(where * bytes.length)] = byte;
            return { type: asStream ? 'text/event-stream' : 'application/json', body: bytes };
          });
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(CELLS)(
    `[MCP-12] that is an odd stream, %s client, %s server (${streams.origin})`,
    async (client, server) => {
      const cases = streams.cases.filter(({ stream_b64: bytes }) => bytes !== undefined);
      const faults = await findFaults(
        cases,
        ({ name }) => name,
        async each => {
          const bytes = Buffer.from(each.stream_b64 ?? '', 'base64');
          const alone = await say(client, server, () => ({
            type: 'text/event-stream',
            body: bytes,
          }));
          expect(resultOf(alone)).toBeDefined();
          await say(client, server, (id, complete) => {
            const response = asEvent(resultText(id, `{${complete}${EMPTY}}`));
            return {
              type: 'text/event-stream',
              body: Buffer.concat([bytes, Buffer.from(`\n\n${response}`)]),
            };
          });
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(CELLS)(
    `[SEC-8] [MCP-7] that contains naughty text, %s client, %s server (${naughty.origin})`,
    async (client, server) => {
      const faults = await findFaults(
        naughty.cases,
        value => JSON.stringify(value),
        async value => {
          const text = JSON.stringify(value);
          const answer = await say(client, server, (id, complete) => ({
            body: resultText(id, `{${complete}"content":[{"type":"text","text":${text}}]}`),
          }));
          expect(textOf(answer)).toBe(value);
          const refused = await say(client, server, id => ({
            body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-31999,"message":${text},"data":{${text}:${text}}}}`,
          }));
          expect(refused.message.error).toEqual({
            code: -31999,
            message: value,
            data: { [value]: value },
          });
        },
      );
      expect(faults).toEqual([]);
    },
  );
});
