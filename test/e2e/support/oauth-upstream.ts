/**
 * An MCP server of the SDK behind `oidc-provider`, an authorization server written by others, with rotating refresh tokens, revocation,
 * resource indicators, registration and metadata documents. Its tool returns who called it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Provider, type Context } from 'oidc-provider';
import { findFreePort } from '../../fixtures/start-fixture.ts';

export interface OauthUpstreamOptions {
  /** Clients registered by hand. */
  clients?: object[];
  /** The ways to obtain a client. */
  registers?: boolean;
  takesDocuments?: boolean;
  /** Maps the address of a client document to where it is really read. */
  documentAt?: (address: string) => string;
  accessTokenSeconds?: number;
}

export interface OauthUpstream {
  url: string;
  issuer: string;
  /** The grant types of token requests, in order. */
  grants: string[];
  revoked(): number;
  /** Makes responses to renewals get lost after the tokens were issued. */
  loseRenewals(isLost: boolean): void;
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
  let isLost = false;
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
      // Its own address policy refuses loopback.
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
    if (request.url === '/token') {
      const end = response.end.bind(response);
      // The tokens were issued; only the response is lost.
      response.end = ((...given: Parameters<typeof end>) =>
        isLost && grants.at(-1) === 'refresh_token'
          ? response
          : end(...given)) as typeof response.end;
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
          authorization_servers: [issuer],
          scopes_supported: ['tickets'],
        }),
      );
      return;
    }
    const value = (request.headers.authorization ?? '').replace('Bearer ', '');
    const token = value === '' ? undefined : await provider.AccessToken.find(value);
    if (!token || token.isExpired) {
      const challenge = `Bearer resource_metadata="${origin}${PROTECTED}", scope="tickets"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    const mcp = new McpServer({ name: 'tickets', version: '1.0.0' });
    mcp.registerTool('whoami', { description: 'Who calls' }, () => ({
      content: [{ type: 'text', text: token.accountId }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  }

  await Promise.all([listen(server, port), listen(authority, issuerPort)]);
  return {
    url,
    issuer,
    grants,
    revoked: () => revoked,
    loseRenewals: value => (isLost = value),
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
