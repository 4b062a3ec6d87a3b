/**
 * The fault matrix, rows of tools/call: every fault of an upstream, in both eras and both response formats, with clients of both eras. The
 * client gets a tool result with the server's name and a stable reason, without an address, and the upstream received the call once.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import {
  headersFor,
  modernHeaders,
  open,
  requestBody,
  resultOf,
  textOf,
} from '../support/raw-client.ts';
import type { Answer, Era, RawClient } from '../support/raw-client.ts';

/**
 * Call timeouts of two gateways: one for faults that end only by the timeout, and one for all others, so that a busy machine does not turn
 * a fault into another.
 */
const CALL_TIMEOUT_MS = { hasty: 4_000, patient: 100_000 } as const;
type Temper = keyof typeof CALL_TIMEOUT_MS;
/** Less than a `patient` call timeout: until then only the tested fault can end the call. */
const SOON_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const SECRET = 'fixture-credential-4711';
const clientEras = ['legacy', 'modern'] as const;
const shapes = (['legacy', 'modern'] as const).flatMap(era =>
  (['json', 'sse'] as const).map(answer => ({ name: `${era}-${answer}`, era, answer })),
);
type Shape = (typeof shapes)[number];

const upstreams = new Map<string, Upstream>();
const clients = { hasty: {}, patient: {} } as Record<Temper, Record<Era, RawClient>>;
const gateways: Gateway[] = [];
let calls = 0;

beforeAll(async () => {
  for (const { name, era, answer } of shapes) {
    upstreams.set(name, await startFixture('faulty', { era, answer }));
  }
  for (const temper of ['hasty', 'patient'] as const) {
    const gateway = await startGateway({
      env: {
        ...QUIET,
        PORTICO_CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS[temper]),
        PORTICO_MAX_ANSWER_BYTES: String(MAX_ANSWER_BYTES),
        // Every call must reach its server, so the circuit never opens.
        PORTICO_CIRCUIT_FAILURES: '1000000',
      },
    });
    gateways.push(gateway);
    for (const [name, { origin }] of upstreams) {
      const headers = { Authorization: `Bearer ${SECRET}` };
      await gateway.register(name, `${origin}/mcp`, { headers });
    }
    const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
    for (const era of clientEras) clients[temper][era] = await open(era, target);
  }
});

afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()));
  await Promise.all([...upstreams.values()].map(upstream => upstream.stop()));
});

interface Seen {
  shape: Shape;
  answer: Answer;
  key: string;
  counters: Record<string, number>;
}

const countersOf = async (shape: Shape, key: string) =>
  (await upstreams.get(shape.name)?.counters(`?key=${key}`)) ?? {};

/** Makes the call in every cell at once; returns the responses with the upstream's counts. */
async function inEveryCell(
  fault: string,
  only: (shape: Shape) => boolean = () => true,
  temper: Temper = 'patient',
): Promise<Seen[]> {
  const cells = clientEras.flatMap(era => shapes.filter(only).map(shape => ({ era, shape })));
  return Promise.all(
    cells.map(async ({ era, shape }) => {
      const key = `${fault}-${era}-${++calls}`;
      const answer = await clients[temper][era].call(`${shape.name}.act`, { fault, key });
      return { shape, answer, key, counters: await countersOf(shape, key) };
    }),
  );
}

function expectReason({ shape, answer }: Seen, reason: string): void {
  expect(answer.status).toBe(200);
  const result = resultOf(answer);
  expect([result.isError, result._meta?.['portico/reason']]).toEqual([true, reason]);
  const text = textOf(answer);
  expect(text).toContain(shape.name);
  expect(text).toContain(reason);
  expect(text).not.toMatch(/\n|https?:|127\.0\.0\.1|\bat .*:\d+/u);
  expect(answer.text).not.toContain(SECRET);
}

type Expected = string | ((shape: Shape) => string);

const rows: [string, string, Expected][] = [
  ['F04', 'hang-before-headers', 'upstream_timeout'],
  ['F05', 'hang-after-headers', 'upstream_timeout'],
  ['F06', 'trickle', 'upstream_timeout'],
  // The runtime reports a connection lost before the headers with the same error as one that was never made.
  ['F07', 'reset-before-headers', 'upstream_unreachable'],
  ['F08', 'reset-mid-body', 'upstream_truncated'],
  ['F09', 'reset-after-progress', 'upstream_truncated'],
  ['F10', 'end-without-response', 'upstream_no_response'],
  ['F11', 'status-401', 'upstream_auth'],
  ['F12', 'status-401-challenge', 'upstream_auth'],
  ['F13', 'status-403', 'upstream_scope'],
  ['F17', 'status-408', 'upstream_rate_limited'],
  ['F17', 'status-425', 'upstream_rate_limited'],
  ['F17', 'status-429', 'upstream_rate_limited'],
  ['F18', 'status-500', 'upstream_5xx'],
  ['F19', 'status-502', 'upstream_5xx'],
  ['F19', 'status-503', 'upstream_5xx'],
  ['F19', 'status-504', 'upstream_5xx'],
  ['F20', 'redirect-301', 'upstream_redirect'],
  ['F20', 'redirect-302', 'upstream_redirect'],
  ['F20', 'redirect-303', 'upstream_redirect'],
  ['F20', 'redirect-307', 'upstream_redirect'],
  ['F20', 'redirect-308', 'upstream_redirect'],
  ['F22', 'html', 'upstream_bad_content_type'],
  ['F23', 'status-202', 'upstream_no_response'],
  ['F23', 'status-204', 'upstream_no_response'],
  ['F24', 'bad-json', 'upstream_bad_json'],
  ['F25', 'not-json-rpc', 'upstream_bad_message'],
  ['F26', 'old-json-rpc', 'upstream_bad_message'],
  [
    'F27',
    'wrong-id',
    shape => (shape.answer === 'sse' ? 'upstream_no_response' : 'upstream_bad_message'),
  ],
  ['F30', 'result-and-error', 'upstream_bad_message'],
  ['F36', 'huge-body', 'upstream_too_large'],
  ['F37', 'gzip-bomb', 'upstream_too_large'],
  ['F37', 'zstd-body', 'upstream_bad_content_type'],
  ['F42', 'batch', 'upstream_bad_message'],
  ['F45', 'endless-line', 'upstream_too_large'],
  ['F46', 'comment-flood', 'upstream_timeout'],
];

describe('faults with a reason', () => {
  it.each(rows)('[MCP-12] [UP-2] [SEC-2] %s %s', async (_, fault, expected) => {
    const temper = expected === 'upstream_timeout' ? 'hasty' : 'patient';
    for (const seen of await inEveryCell(fault, () => true, temper)) {
      expectReason(seen, typeof expected === 'string' ? expected : expected(seen.shape));
      expect(seen.counters['executions']).toBe(1);
      expect(seen.counters['redirected']).toBe(0);
    }
  });

  it('[SEC-4] F32 an unknown resultType of a modern upstream', async () => {
    for (const seen of await inEveryCell('unknown-result-type', shape => shape.era === 'modern')) {
      expectReason(seen, 'upstream_bad_message');
      expect(seen.counters['executions']).toBe(1);
    }
  });

  it('[UP-2] F15 a session that is forgotten again and again', async () => {
    for (const seen of await inEveryCell('session-always', shape => shape.era === 'legacy')) {
      expectReason(seen, 'upstream_session');
      expect(seen.counters['executions']).toBeLessThanOrEqual(2);
    }
  });

  it('[UP-2] 404 and 400 of an upstream without sessions', async () => {
    const isModern = (shape: Shape) => shape.era === 'modern';
    for (const fault of ['status-404', 'status-400']) {
      for (const seen of await inEveryCell(fault, isModern)) {
        expectReason(seen, 'upstream_4xx');
        expect(seen.counters['executions']).toBe(1);
      }
    }
  });
});

describe('harmless oddities', () => {
  const harmless: [string, string][] = [
    ['F28', 'id-as-text'],
    ['F29', 'two-responses'],
    ['F43', 'asks-back'],
    ['F44', 'sse-crlf'],
    ['F44', 'sse-cr'],
    ['F44', 'sse-lines'],
    ['F44', 'sse-split'],
    ['F48', 'other-ids-first'],
    ['F49', 'event-ids'],
    ['F50', 'never-closes'],
  ];
  it.each(harmless)('[MCP-7] [MCP-12] %s %s', async (_, fault) => {
    for (const { answer, key, counters } of await inEveryCell(fault)) {
      expect(answer.messages.filter(text => text.includes('"result"'))).toHaveLength(1);
      expect(textOf(answer)).toBe(`did ${key}`);
      expect(counters['executions']).toBe(1);
    }
  });

  it('[MCP-4] [MCP-12] F47 a flood of progress does not hold back the result', async () => {
    for (const shape of shapes) {
      for (const { answer, key } of await inEveryCell('progress-flood', one => one === shape)) {
        expect(textOf(answer)).toBe(`did ${key}`);
      }
    }
  });

  it('[UP-3] F50 closes the stream of an upstream that never does', async () => {
    for (const { shape, key } of await inEveryCell('never-closes')) {
      const closed = until(`the stream of ${key} is closed`, SOON_MS, async () => {
        return (await countersOf(shape, key))['closed'] || undefined;
      });
      expect(await closed).toBe(1);
    }
  });

  it('[UP-2] F14 a forgotten session is opened again, once, and the call answers', async () => {
    const only = shapes.filter(shape => shape.era === 'legacy');
    for (const era of clientEras) {
      for (const shape of only) {
        const key = `again-${era}-${shape.name}`;
        const before = await countersOf(shape, key);
        const answer = await clients.patient[era].call(`${shape.name}.act`, {
          fault: 'session-once',
          key,
        });
        expect(textOf(answer)).toBe(`did ${key}`);
        const after = await countersOf(shape, key);
        expect(after['executions']).toBe(2);
        expect((after['handshakes'] ?? 0) - (before['handshakes'] ?? 0)).toBe(1);
      }
    }
  });

  it.each([
    ['F31', 'no-content'],
    ['F38', 'deep-json'],
    ['F41', 'invalid-utf8'],
  ])('[MCP-12] [SEC-4] %s %s ends in one response and the next call works', async (_, fault) => {
    for (const { answer, counters } of await inEveryCell(fault)) {
      expect(answer.status).toBe(200);
      expect(answer.messages).toHaveLength(1);
      expect(counters['executions']).toBe(1);
    }
    for (const { answer, key } of await inEveryCell('none'))
      expect(textOf(answer)).toBe(`did ${key}`);
  });

  it('[SEC-2] F35 an upstream that repeats its credential', async () => {
    for (const { answer, counters } of await inEveryCell('echoed-credential')) {
      expect(answer.message.error?.code).toBe(-31_000);
      expect(answer.text).not.toContain(SECRET);
      expect(counters['executions']).toBe(1);
    }
  });
});

describe('a client that disconnects', () => {
  /** Sends a modern call and returns a function that drops its connection at once. */
  function callAndKeep(name: string, given: object): () => void {
    const { target } = clients.patient.modern;
    const params = JSON.stringify({ name, arguments: given });
    const headers = headersFor(target, modernHeaders('tools/call', name));
    const sent = request(target.url, { method: 'POST', headers: Object.fromEntries(headers) });
    sent.on('error', () => undefined);
    sent.end(requestBody('modern', 'tools/call', params, 1));
    return () => void sent.socket?.resetAndDestroy();
  }

  it.each(shapes)('[MCP-4] [UP-3] F76 a dropped call is cancelled at $name', async shape => {
    const key = `gone-${shape.name}`;
    const count = async (counter: string) => (await countersOf(shape, key))[counter] || undefined;
    const { cancelled = 0 } = await countersOf(shape, key);
    const drop = callAndKeep(`${shape.name}.act`, { fault: 'hang-before-headers', key });
    await until('the call arrived', SOON_MS, () => count('executions'));
    drop();
    expect(await until('the upstream sees the end', SOON_MS, () => count('closed'))).toBe(1);
    const expected = cancelled + (shape.era === 'legacy' ? 1 : 0);
    const told = until('the upstream is told', SOON_MS, async () => {
      const now = (await countersOf(shape, key))['cancelled'];
      return now === expected ? now : undefined;
    });
    expect(await told).toBe(expected);
  });
});
