/** Hostile requests: broken bytes, broken messages and naughty text in every field. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, loadCorpus } from '../../fixtures/corpora.ts';
import { memberAt } from '../../fixtures/raw-json.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import {
  open,
  post,
  type Answer,
  type Era,
  type RawClient,
  type Target,
} from '../support/raw-client.ts';
import { resultText, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkAnswer, findFaults } from '../support/soundness.ts';

const ERAS = ['legacy', 'modern'] as const;
const json = loadCorpus('json-parsing');
const naughty = loadCorpus('naughty-strings');
const protocol = loadCorpus('protocol-fuzz');

let gateway: Gateway;
let upstream: ScriptedUpstream;
let target: Target;
const clients = {} as Record<Era, RawClient>;

beforeAll(async () => {
  upstream = await startScripted(
    'legacy',
    {
      'tools/list': {
        member: 'tools',
        items: [{ name: 'echo', inputSchema: { type: 'object' } }],
      },
    },
    ({ id, argumentsText }) => ({
      body: resultText(id, `{"content":[],"structuredContent":{"got":${argumentsText}}}`),
    }),
  );
  gateway = await startGateway();
  await gateway.register('scripted', upstream.url);
  target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  for (const era of ERAS) clients[era] = await open(era, target);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const headersOf = (era: Era): Record<string, string> =>
  era === 'modern'
    ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    : { 'mcp-session-id': clients.legacy.sessionId ?? '' };

/** Returns what the upstream received of a call, as text. */
const gotIn = (answer: Answer) => memberAt(answer.resultText ?? '{}', 'structuredContent', 'got');

describe('as a body', () => {
  it.each(ERAS)(
    `[MCP-1] [SEC-4] bytes that are or are not JSON, %s (${json.origin})`,
    async era => {
      const faults = await findFaults(
        json.cases,
        ({ name }) => name,
        async each => {
          const answer = await post(target, bytesOf(each), headersOf(era));
          checkAnswer(answer, era);
          const code = answer.message.error?.code;
          const codes = each.expect === 'reject' ? [-32700] : [-32600, -32700];
          expect(answer.status).toBe(400);
          expect(codes).toContain(code);
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(ERAS)(`[MCP-1] [SEC-4] broken messages, %s (${protocol.origin})`, async era => {
    const nameOf = ({ generator, name }: { generator: string; name: string }) =>
      `${generator} ${name}`;
    const faults = await findFaults(protocol.cases, nameOf, async each => {
      checkAnswer(await post(target, bytesOf(each), headersOf(era)), era);
    });
    expect(faults).toEqual([]);
  });

  it(`[MCP-1] [SEC-4] messages with a byte changed (${protocol.origin}, seed ${SEED})`, async () => {
    const random = createRandom();
    const bodies = Array.from({ length: 400 }, () => {
      const bytes = bytesOf(random.pick(protocol.cases));
      for (let change = random.below(3); change >= 0; change -= 1) {
        bytes[random.below(bytes.length)] = random.below(256);
      }
      return bytes;
    });
    const faults = await findFaults(
      bodies,
      body => body.toString('latin1'),
      async body => {
        checkAnswer(await post(target, body), 'legacy');
      },
    );
    expect(faults).toEqual([]);
  });
});

describe('as arguments', () => {
  it.each(ERAS)(`[MCP-7] any JSON arrives exactly as sent, %s (${json.origin})`, async era => {
    const cases = json.cases.filter(each => each.expect === 'accept');
    const faults = await findFaults(
      cases,
      ({ name }) => name,
      async each => {
        const text = bytesOf(each).toString('utf8').trim();
        const answer = await clients[era].call('scripted.echo', `{"v":${text}}`);
        checkAnswer(answer, era, 'tools/call');
        expect(gotIn(answer)).toBe(`{"v":${text}}`);
      },
    );
    expect(faults).toEqual([]);
  });

  it.each(ERAS)(
    `[MCP-7] naughty text arrives exactly as sent, %s (${naughty.origin})`,
    async era => {
      const faults = await findFaults(
        naughty.cases,
        value => JSON.stringify(value),
        async value => {
          const given = JSON.stringify({ [value]: value });
          const answer = await clients[era].call('scripted.echo', given);
          checkAnswer(answer, era, 'tools/call');
          expect(gotIn(answer)).toBe(given);
        },
      );
      expect(faults).toEqual([]);
    },
  );
});

describe('as a field', () => {
  const fields: [string, (text: string) => [method: string, params: object]][] = [
    ['a tool name', text => ['tools/call', { name: text }]],
    ['a tool name of a server', text => ['tools/call', { name: `scripted.${text}` }]],
    ['a prompt name', text => ['prompts/get', { name: text }]],
    ['a URI', text => ['resources/read', { uri: text }]],
    ['a URI of a server', text => ['resources/read', { uri: `scripted+${text}` }]],
    ['a cursor', text => ['tools/list', { cursor: text }]],
    [
      'a reference',
      text => ['completion/complete', { ref: { type: text, name: text }, argument: text }],
    ],
    ['a log level', text => ['logging/setLevel', { level: text }]],
    [
      'a progress token',
      text => ['tools/call', { name: 'scripted.echo', _meta: { progressToken: text } }],
    ],
    ['a key of _meta', text => ['tools/call', { name: 'scripted.echo', _meta: { [text]: text } }]],
    ['an unknown param', text => ['tools/list', { [text]: text }]],
  ];

  it.each(ERAS)(`[MCP-9] [SEC-4] naughty text, %s (${naughty.origin})`, async era => {
    const cases = fields.flatMap(([what, make]) =>
      naughty.cases.map(text => ({ what, make, text })),
    );
    const faults = await findFaults(
      cases,
      ({ what, text }) => `${what} ${JSON.stringify(text)}`,
      async each => {
        const [method, params] = each.make(each.text);
        checkAnswer(await clients[era].request(method, params), era);
      },
    );
    expect(faults).toEqual([]);
  });

  it.each(ERAS)(
    `[MCP-1] naughty text works as an id and comes back, %s (${naughty.origin})`,
    async era => {
      const faults = await findFaults(
        naughty.cases,
        value => JSON.stringify(value),
        async value => {
          const answer = await clients[era].request('tools/list', {}, value);
          checkAnswer(answer, era, 'tools/list');
          expect(answer.message.id).toBe(value);
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it(`[SEC-4] naughty text in headers (${naughty.origin})`, async () => {
    const names = [
      'mcp-session-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'accept',
      'last-event-id',
    ];
    const texts = naughty.cases.filter(text => isHeaderValue(text));
    const cases = names.flatMap(name => texts.map(text => ({ name, text })));
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const faults = await findFaults(
      cases,
      ({ name, text }) => `${name}: ${text}`,
      async ({ name, text }) => {
        const answer = await post(target, body, { [name]: text });
        checkAnswer(answer, answer.message.id === undefined ? 'modern' : 'legacy');
      },
    );
    expect(faults).toEqual([]);
  });

  it(`[REG-1] [REG-8] naughty text over REST is answered as a problem (${naughty.origin})`, async () => {
    const cases = naughty.cases.flatMap(
      text =>
        [
          [
            'POST',
            '/api/v1/aggregator/servers',
            { name: text, transport_type: 'HTTP', connection_config: { url: text } },
          ],
          ['POST', '/api/v1/tools/call', { name: text, arguments: { text } }],
          ['POST', '/api/v1/tokens', { name: '', servers: [text], scopes: [text] }],
          ['GET', `/api/v1/aggregator/servers/${encodeURIComponent(text)}`, undefined],
          ['DELETE', `/api/v1/tokens/${encodeURIComponent(text)}`, undefined],
          ['GET', `/mcp/servers/${encodeURIComponent(text)}`, undefined],
        ] as const,
    );
    const faults = await findFaults(
      cases,
      each => JSON.stringify(each),
      async ([method, path, body]) => {
        const answer = await gateway.api(method, path, body);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
      },
    );
    expect(faults).toEqual([]);
  });
});

/** HTTP itself refuses control characters, on either side. */
function isHeaderValue(text: string): boolean {
  if (/\p{Cc}/u.test(text)) return false;
  try {
    return new Headers({ 'x-text': text }).get('x-text') !== '';
  } catch {
    return false;
  }
}
