/**
 * An MCP server of the SDK behind an authorization server that nobody here wrote: `oidc-provider`, with rotating refresh tokens, revocation,
 * resource indicators, registration and metadata documents. Its tool says who called it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Provider, type Context } from 'oidc-provider';
import { findFreePort } from '../../fixtures/start-fixture.ts';

export interface OauthUpstreamOptions {
  /** Clients that were made by hand. */
  clients?: object[];
  /** How clients can come to be. */
  registers?: boolean;
  takesDocuments?: boolean;
  /** Where a client document with this address is really read. */
  documentAt?: (address: string) => string;
  accessTokenSeconds?: number;
}

export interface OauthUpstream {
  url: string;
  issuer: string;
  /** Tokens that were asked for, by grant type, in order. */
  grants: string[];
  revoked(): number;
  /** The next answers to renewals are lost on the way, after they were given. */
  loseRenewals(count: number): void;
  /** What the authorization server answers instead of doing anything; undefined: nothing. */
  failWith(status: number | undefined): void;
  /** Who was called as by whom: the names that the server saw, in order. */
  callers: string[];
  /** The server takes none of the access tokens that it has seen any more. */
  forgetTokens(): void;
  /** Names another issuer in the server's metadata. */
  moveTo(issuer: string): void;
  stop(): Promise<void>;
}

const PROTECTED = '/.well-known/oauth-protected-resource/mcp';

export async function startOauthUpstream(
  options: OauthUpstreamOptions = {},
): Promise<OauthUpstream> {
  const [port, issuerPort] = [await findFreePort(), await findFreePort()];
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/mcp`;
  const issuer = `http://127.0.0.1:${issuerPort}`;
  const { accessTokenSeconds = 3_600, documentAt } = options;
  const grants: string[] = [];
  const callers: string[] = [];
  const refused = new Set<string>();
  const seen = new Set<string>();
  let lost = 0;
  let failure: number | undefined;
  let named = issuer;
  let revoked = 0;
  const provider = new Provider(issuer, {
    clients: options.clients ?? [],
    scopes: ['openid', 'offline_access', 'tickets'],
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id }),
    }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ...(documentAt && {
      // Its own guard refuses loopback.
      fetch: (address: URL | string) => fetch(documentAt(String(address))),
    }),
    features: {
      registration: { enabled: options.registers ?? true },
      revocation: { enabled: true },
      clientIdMetadataDocument: { enabled: options.takesDocuments ?? false, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'tickets',
          accessTokenFormat: 'opaque',
          accessTokenTTL: accessTokenSeconds,
        }),
        useGrantedResource: () => true,
      },
    },
  });
  provider.on('grant.success', (context: Context) => grants.push(context.oidc.params.grant_type));
  provider.on('grant.revoked', () => (revoked += 1));
  const authority = createServer((request, response) => {
    const isToken = request.url === '/token';
    if (isToken && failure !== undefined) return void response.writeHead(failure).end();
    if (isToken) {
      const end = response.end.bind(response);
      response.end = ((...given: Parameters<typeof end>) => {
        if (lost === 0 || grants.at(-1) !== 'refresh_token') return end(...given);
        lost -= 1;
        response.destroy();
        return response;
      }) as typeof response.end;
    }
    provider.callback()(request, response);
  });
  const server = createServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === PROTECTED) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          resource: url,
          authorization_servers: [named],
          scopes_supported: ['tickets'],
        }),
      );
      return;
    }
    const value = (request.headers.authorization ?? '').replace('Bearer ', '');
    const token =
      value === '' || refused.has(value) ? undefined : await provider.AccessToken.find(value);
    if (!token || token.isExpired) {
      const challenge = `Bearer resource_metadata="${origin}${PROTECTED}", scope="tickets"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    seen.add(value);
    const mcp = new McpServer({ name: 'tickets', version: '1.0.0' });
    mcp.registerTool('whoami', { description: 'Who calls' }, () => {
      callers.push(token.accountId);
      return { content: [{ type: 'text', text: token.accountId }] };
    });
    const transport = new StreamableHTTPServerTransport({});
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  }

  await Promise.all([listen(server, port), listen(authority, issuerPort)]);
  return {
    url,
    issuer,
    grants,
    callers,
    revoked: () => revoked,
    loseRenewals: count => (lost = count),
    failWith: status => (failure = status),
    forgetTokens() {
      for (const value of seen) refused.add(value);
    },
    moveTo: other => (named = other),
    stop: async () => {
      for (const each of [server, authority]) {
        each.closeAllConnections();
        each.close();
        await once(each, 'close');
      }
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
