/**
 * Ten public servers, recorded in `recorded-servers.ts`, through discovery: each gives the expected flow, and those that need an own client
 * registration say so.
 */
import { describe, expect, it, vi } from 'vitest';
import { methodOf, takesDocument } from '../../../src/credentials/oauth/client-document.ts';
import { CodeFlow } from '../../../src/credentials/oauth/code-flow.ts';
import type { RecordedServer } from '../../fixtures/recorded-server.ts';
import { RECORDED } from '../../fixtures/recorded-servers.ts';

const GIVEN = {
  redirectUri: 'https://gateway.example.com/oauth/callback',
  clientUri: 'https://gateway.example.com',
};
const flow = new CodeFlow(false);
const byName = (name: string) => {
  const found = RECORDED.find(each => each.name === name);
  if (!found) throw new Error(`no record of ${name}`);
  return found;
};

/** Replays the recorded network; every other URL answers with an HTML page. */
function replay(
  { url, challenge, resource, server }: RecordedServer,
  more: Readonly<Record<string, () => Response>> = {},
): string[] {
  const asked: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async input => {
    const address = String(input);
    asked.push(address);
    const answer = more[address];
    if (answer) return answer();
    if (address === new URL(url).href) {
      if (challenge === undefined) return new Response('{}', { status: 200 });
      return new Response('no', { status: 401, headers: { 'www-authenticate': challenge } });
    }
    if (address === resource.at) return Response.json(resource.document);
    if (address === server.at) return Response.json(server.document);
    return new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } });
  });
  return asked;
}

describe('a public server', () => {
  it.each(RECORDED.map(each => [each.name, each.flow ?? "a client of one's own", each] as const))(
    '[UP-4] %s gives %s',
    async (_name, _flow, record) => {
      const asked = replay(record);
      const authorizer = await flow.find(record.url);
      expect(authorizer.scope).toBe(record.scope);
      expect(authorizer).toMatchObject({
        issuer: (record.server.document as { issuer: string }).issuer,
        resource: (record.resource.document as { resource: string }).resource,
        metadata: record.server.document,
      });
      // No URL is guessed if one is announced: the server, its metadata, then that of its issuer.
      expect(asked).toEqual([new URL(record.url).href, record.resource.at, record.server.at]);
    },
  );

  it.each(RECORDED)(
    '[UP-4] $name registers a gateway whose document it does not accept, or reports that it does not',
    async record => {
      const { registration_endpoint: endpoint = 'none' } = record.server.document as Record<
        string,
        string
      >;
      const made = () => Response.json({ client_id: 'c', client_secret: 's' }, { status: 201 });
      replay(record, { [endpoint]: made });
      const authorizer = await flow.find(record.url);
      const outcome = await flow.register(authorizer, GIVEN).then(
        ({ source }) => source,
        (error: Error) => error.message,
      );
      expect([takesDocument(authorizer.metadata) ? 'document' : undefined, outcome]).toEqual([
        record.flow === 'document' ? 'document' : undefined,
        record.flow === undefined
          ? 'The authorization server does not register clients like this one'
          : 'registered',
      ]);
    },
  );

  it.each([
    // GitHub announces no method and documents only the body.
    ['GitHub', 'post'],
    ['Asana', 'basic'],
    ['Stripe', 'none'],
    ['Figma', 'basic'],
    ['Hugging Face', 'basic'],
  ] as const)('[UP-4] %s gets the secret by %s', async (name, method) => {
    replay(byName(name));
    expect(methodOf((await flow.find(byName(name).url)).metadata)).toBe(method);
  });

  it('[UP-4] GitHub answers with status 200, and a refusal is still recognized', async () => {
    const record = byName('GitHub');
    const token = 'https://github.com/login/oauth/access_token';
    replay(record, {
      [token]: () => Response.json({ error: 'bad_refresh_token', error_description: 'x' }),
    });
    const { issuer, resource } = await flow.find(record.url);
    const place = { issuer, resource, tokenEndpoint: token, revocationEndpoint: undefined };
    const client = {
      clientId: 'Iv1.x',
      clientSecret: 's',
      method: 'post',
      source: 'given',
    } as const;
    await expect(flow.refresh(place, client, 'ghr_x')).rejects.toMatchObject({
      code: 'credential_unavailable',
      reason: 'invalid_grant',
    });
  });

  it('[UP-4] Figma does not register a client with an unknown name, and the error says so', async () => {
    const record = byName('Figma');
    replay(record, {
      'https://api.figma.com/v1/oauth/mcp/register': () =>
        new Response('Forbidden', { status: 403 }),
    });
    const authorizer = await flow.find(record.url);
    await expect(flow.register(authorizer, GIVEN)).rejects.toMatchObject({
      reason: 'other',
      message: 'The authorization server does not register this gateway',
    });
  });

  it('[UP-4] [SEC-5] Box is refused: server and authorization server write the issuer with and without a slash', async () => {
    // Its server names `https://api.box.com/`, which calls itself without the slash (2026-09-21, EliteaAI/elitea-sdk, as above). No
    // recording has the server's own document, so this one shows no more than that.
    replay({
      ...byName('Stripe'),
      url: 'https://mcp.box.com',
      challenge: undefined,
      resource: {
        at: 'https://mcp.box.com/.well-known/oauth-protected-resource',
        document: {
          resource: 'https://mcp.box.com',
          authorization_servers: ['https://api.box.com/'],
        },
      },
      server: {
        at: 'https://api.box.com/.well-known/oauth-authorization-server',
        document: {
          issuer: 'https://api.box.com',
          authorization_endpoint: 'https://account.box.com/api/oauth2/authorize',
          token_endpoint: 'https://api.box.com/oauth2/token',
          code_challenge_methods_supported: ['S256'],
        },
      },
    });
    await expect(flow.find('https://mcp.box.com')).rejects.toThrow('names another issuer');
  });
});
