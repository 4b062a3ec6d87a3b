/**
 * Errors of a server that are as long as a response may be: they pass unchanged, or are refused with a reason, and never become an internal
 * error.
 */
import { describe, expect, it } from 'vitest';
import { FakeServer, serve, streamOf, type SeenPost } from '../support/fake-server.ts';
import { createPortico, legacy, modern, registerConnected } from '../support/portico.ts';

const portico = createPortico();
const CHARS = 4_194_304;
const MESSAGES: [string, string][] = [
  ['plain', 'x'.repeat(2 * CHARS)],
  ['full of quotes', '"\\'.repeat(CHARS / 2)],
  ['full of secrets', 'Bearer canary-5521 '.repeat(CHARS / 19)],
];

const errorOf = ({ id }: SeenPost, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_017, message },
});

describe.each(['legacy', 'modern'] as const)('at a %s server', era => {
  it.each(MESSAGES)('[SEC-4] [MCP-7] an error of megabytes passes: %s', async (what, message) => {
    const server = new FakeServer({ era });
    const name = `huge-${era}-${MESSAGES.findIndex(([one]) => one === what)}`;
    serve({ [name]: server });
    const connection_config = {
      url: `https://${name}.example.com/mcp`,
      headers: { Authorization: 'Bearer canary-5521' },
    };
    await registerConnected(portico, name, { connection_config });
    const wanted = message.replaceAll('canary-5521', '[redacted]');
    for (const answer of [
      (sent: SeenPost) => Response.json(errorOf(sent, message)),
      (sent: SeenPost) => streamOf(errorOf(sent, message)),
    ]) {
      server.call = answer;
      const requests = [
        { message: legacy('tools/call', { name: `${name}.echo` }), headers: {} },
        modern('tools/call', { name: `${name}.echo` }),
      ];
      for (const request of requests) {
        const response = await portico.post(request.message, { headers: request.headers });
        const { error } = await response.json<{ error: { code: number; message: string } }>();
        expect([error.code, error.message.length]).toEqual([-32_017, wanted.length]);
        expect(error.message === wanted).toBe(true);
      }
    }
    const rest = await portico.api('POST', '/api/v1/tools/call', { name: `${name}.echo` });
    expect(await rest.text()).not.toContain('"internal"');
  });

  it('[SEC-4] [MCP-12] one that is longer than a response may be, or came with its status, is refused with the reason', async () => {
    const server = new FakeServer({ era });
    const name = `over-${era}`;
    serve({ [name]: server });
    await registerConnected(portico, name);
    for (const [reason, answer] of [
      [
        'upstream_too_large',
        (sent: SeenPost) => Response.json(errorOf(sent, 'x'.repeat(CHARS * 5))),
      ],
      [
        'upstream_4xx',
        (sent: SeenPost) => Response.json(errorOf(sent, 'x'.repeat(CHARS * 5)), { status: 422 }),
      ],
      [
        'upstream_5xx',
        (sent: SeenPost) => Response.json(errorOf(sent, 'x'.repeat(CHARS * 5)), { status: 500 }),
      ],
    ] as const) {
      server.call = answer;
      const response = await portico.post(legacy('tools/call', { name: `${name}.echo` }));
      const text = await response.text();
      expect([reason, text.length < 2_000, text]).toEqual([
        reason,
        true,
        expect.stringContaining(`"portico/reason":"${reason}"`),
      ]);
    }
  });
});
