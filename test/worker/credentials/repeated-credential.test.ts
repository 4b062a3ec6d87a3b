/** A server that echoes the credential it was sent: no client gets it, whatever the server wraps it in. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeAuthorizationServer } from '../support/fake-authorization-server.ts';
import {
  FakeServer,
  resultOf,
  serve,
  streamOf,
  toolOf,
  type SeenPost,
} from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
const TOKEN = 'tok/en+4711"with\\marks&more';
/** Sends a request with the headers of its era. */
const post = (
  { message, headers }: { message: unknown; headers: Record<string, string> },
  path = '/mcp',
) => portico.post(message, { headers }, path);
const API_KEY = 'canary-header-5512';
const PASSWORD = 'canary pass:5513/x';
const COOKIE = 'canary-cookie-5514';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktc3ViamVjdCJ9.c2lnbmF0dXJlLW9mLWNhbmFyeQ';

/** All received headers, in the forms in which a server may write them. */
function told({ headers }: SeenPost): Record<string, unknown> {
  const sent = Object.fromEntries(headers);
  const bare = (sent['authorization'] ?? '').replace(/^\S+ /, '');
  const base64 = btoa(bare);
  const percent = encodeURIComponent(bare);
  const signed = bare.split('.').slice(1);
  return { sent, bare, base64, percent, nested: JSON.stringify(sent), signed };
}

/** The forms of the secrets that a client must not read. */
function leaksIn(text: string, secrets: readonly string[]): string[] {
  const forms = secrets.flatMap(secret => {
    const json = JSON.stringify(secret).slice(1, -1);
    const base64 = btoa(secret).replace(/=+$/, '');
    return [secret, json, JSON.stringify(json).slice(1, -1), base64, encodeURIComponent(secret)];
  });
  return forms.filter(form => text.includes(form));
}

async function connect(name: string, server: FakeServer, config: object): Promise<void> {
  serve({ [name]: server });
  const connection_config = { url: `https://${name}.example.com/mcp`, ...config };
  await registerConnected(portico, name, { connection_config });
}

const KINDS: [string, object, string[]][] = [
  ['a bearer token', { auth: { type: 'bearer', token: TOKEN } }, [TOKEN]],
  ['a signed token', { auth: { type: 'bearer', token: JWT } }, [JWT, ...JWT.split('.').slice(1)]],
  [
    'name and password',
    { headers: { Authorization: `Basic ${btoa(`me:${PASSWORD}`)}` } },
    [btoa(`me:${PASSWORD}`), `me:${PASSWORD}`, PASSWORD],
  ],
  [
    'headers and cookies',
    { headers: { 'X-Api-Key': API_KEY, Cookie: `a=b; session=${COOKIE}` } },
    [API_KEY, COOKIE],
  ],
];

describe.each(['legacy', 'modern'] as const)('a %s server', era => {
  it.each(KINDS)(
    '[SEC-2] echoes %s in a result, an error and a log',
    async (kind, config, secrets) => {
      const name = `repeats-${era}-${KINDS.findIndex(([one]) => one === kind)}`;
      const server = new FakeServer({ era });
      await connect(name, server, config);
      const base = era === 'modern' ? { resultType: 'complete' } : {};
      const textOf = (sent: SeenPost) => `${JSON.stringify(told(sent))} ${PASSWORD}`;
      const resultFor = (sent: SeenPost) => ({
        ...base,
        content: [{ type: 'text', text: textOf(sent) }],
        structuredContent: told(sent),
        isError: sent.params['arguments'] !== undefined,
      });
      const progress = (sent: SeenPost) => ({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'error', logger: textOf(sent), data: told(sent) },
      });
      const ways: [string, (sent: SeenPost) => Response][] = [
        ['a result', sent => resultOf(sent, resultFor(sent))],
        [
          'a stream',
          sent =>
            streamOf(progress(sent), { jsonrpc: '2.0', id: sent.id, result: resultFor(sent) }),
        ],
        [
          'an error',
          sent => {
            const error = { code: -32_000, message: textOf(sent), data: told(sent) };
            return Response.json({ jsonrpc: '2.0', id: sent.id, error });
          },
        ],
        ['another status', sent => Response.json({ error: textOf(sent) }, { status: 500 })],
      ];
      for (const [way, answer] of ways) {
        server.call = answer;
        const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
        for (const request of [
          { message: legacy('tools/call', { name: `${name}.echo` }), headers: {} },
          modern('tools/call', { name: `${name}.echo`, arguments: {}, _meta: meta }),
        ]) {
          const text = await (await post(request)).text();
          // The body of any other status is not passed on at all.
          const isMarked = text.includes('[redacted]') || way === 'another status';
          expect([way, leaksIn(text, secrets), isMarked]).toEqual([way, [], true]);
        }
      }
    },
  );

  it('[SEC-2] echoes its token in definitions and instructions', async () => {
    const name = `tells-${era}`;
    const server = new FakeServer({ era });
    server.instructions = `Send ${API_KEY}.`;
    const properties = { a: { description: `like ${API_KEY}`, default: API_KEY } };
    const inputSchema = { type: 'object', properties };
    server.tools = [toolOf('echo', { description: `Wants ${API_KEY}`, inputSchema })];
    await connect(name, server, { headers: { 'X-Api-Key': API_KEY } });
    const [listed, described, discovered] = await Promise.all([
      post(modern('tools/list'), `/mcp/servers/${name}`).then(list => list.text()),
      portico.api('GET', '/api/v1/tools').then(tools => tools.text()),
      post(modern('server/discover'), `/mcp/servers/${name}`).then(own => own.text()),
    ]);
    expect(listed).toContain('Wants [redacted]');
    expect([listed, described, discovered].flatMap(text => leaksIn(text, [API_KEY]))).toEqual([]);
  });
});

describe('bytes of a server', () => {
  it('[SEC-2] [MCP-7] are searched in chunks of any size, and all others are unchanged', async () => {
    const name = 'pieces';
    const server = new FakeServer({ era: 'modern' });
    await connect(name, server, { headers: { 'X-Api-Key': API_KEY } });
    const before =
      '"n":1.0e5,  "u":"\\u00e9é\\/","big":12345678901234567890,"near":"canary-header-551"';
    server.call = ({ id }) => {
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","content":[],"x":{${before},"k":"<${API_KEY}>"}}}`;
      const bytes = new TextEncoder().encode(`: c\n\ndata: ${text}\n\n`);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const answer = await post(modern('tools/call', { name: `${name}.echo` }));
    expect(await answer.text()).toContain(`"x":{${before},"k":"<[redacted]>"}`);
  });

  it('[SEC-2] [MCP-7] pass at once unless a credential may have begun', async () => {
    const name = 'flowing';
    const server = new FakeServer({ era: 'modern' });
    await connect(name, server, { headers: { 'X-Api-Key': API_KEY } });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.call = ({ id, params }) => {
      const { progressToken } = params['_meta'] as { progressToken: unknown };
      const progress = { progressToken, progress: 1, message: 'half' };
      const first = { jsonrpc: '2.0', method: 'notifications/progress', params: progress };
      const last = { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } };
      const body = new ReadableStream<string>({
        async start(controller) {
          controller.enqueue(`data: ${JSON.stringify(first)}\n\n`);
          await promise;
          controller.enqueue(`data: ${JSON.stringify(last)}\n\n`);
          controller.close();
        },
      }).pipeThrough(new TextEncoderStream());
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const params = { name: `${name}.echo`, _meta: { progressToken: 7 } };
    const answer = await post(modern('tools/call', params));
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('half')) text += (await reader?.read())?.value ?? '';
    resolve();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      text += next.value;
    }
    expect(text).toContain('"content":[]');
  });

  it('[SEC-2] [MCP-7] that are headers without a credential, or too short for one, stay', async () => {
    const name = 'harmless';
    const server = new FakeServer({ era: 'modern' });
    const headers = {
      'X-Media': 'application/json',
      'X-Environment': 'production',
      'X-Api-Version': '2024-11-05',
      'X-Api-Key': 'short',
    };
    await connect(name, server, { headers });
    server.call = sent =>
      resultOf(sent, {
        resultType: 'complete',
        content: [{ type: 'text', text: 'application/json production 2024-11-05 shorter' }],
      });
    const answer = await post(modern('tools/call', { name: `${name}.echo` }));
    expect(await answer.text()).toContain('application/json production 2024-11-05 shorter');
  });

  it('[SEC-2] [MCP-7] that are a number stay one', async () => {
    const name = 'numbered';
    const server = new FakeServer({ era: 'modern' });
    await connect(name, server, { headers: { 'X-Api-Key': '4711471147' } });
    server.call = sent => resultOf(sent, { resultType: 'complete', content: [], n: 14711471147.5 });
    const answer = await post(modern('tools/call', { name: `${name}.echo` }));
    expect((await answer.json<RpcAnswer>()).result).toMatchObject({ n: 11111111111.5 });
  });
});

describe('client credentials', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('[SEC-2] [UP-4] neither the access token nor the secret of the client comes back', async () => {
    const authority = new FakeAuthorizationServer('repeating');
    const server = new FakeServer({ era: 'modern' });
    const secret = 'canary-client-5515';
    const handle = (request: Request): Response | Promise<Response> =>
      authority.accepts(request) ? server.handle(request) : new Response('no', { status: 401 });
    fakeUpstreams({ 'https://granted.example.com': handle, [authority.origin]: authority.handle });
    const auth = {
      type: 'client_credentials',
      client_id: 'portico client',
      client_secret: secret,
      token_url: `${authority.origin}/token`,
    };
    const connection_config = { url: 'https://granted.example.com/mcp', auth };
    await registerConnected(portico, 'granted', { connection_config });
    const tokens: string[] = [];
    server.call = sent => {
      tokens.push((sent.headers.get('authorization') ?? '').slice('Bearer '.length));
      const text = `${tokens[0]} ${secret} ${btoa(`portico client:${secret}`)} ${btoa(`portico+client:canary%2Dclient%2D5515`)}`;
      return resultOf(sent, { resultType: 'complete', content: [{ type: 'text', text }] });
    };
    const answer = await (await post(modern('tools/call', { name: 'granted.echo' }))).text();
    expect(tokens[0]?.length).toBeGreaterThan(8);
    const basic = [`portico client:${secret}`, 'portico+client:canary%2Dclient%2D5515'];
    expect(leaksIn(answer, [...tokens, secret, ...basic])).toEqual([]);
    expect(answer).toContain('[redacted]');
  });
});
