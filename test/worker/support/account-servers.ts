/** Servers with accounts, one of each kind, each with a tool, a prompt and a resource. */
import { beforeAll, beforeEach } from 'vitest';
import { env } from 'cloudflare:workers';
import { toQualifiedUri } from '../../../src/shared/naming/qualified-uri.ts';
import { createPerson, rowsOf, type Person } from './call-rows.ts';
import { FakeServer, resultOf, serve, toolOf, type SeenPost } from './fake-server.ts';
import { createPortico, ORIGIN, registerConnected } from './portico.ts';

const portico = createPortico();
const capabilities = { prompts: {}, resources: {} };
const tools = [toolOf('whoami')];
export const KINDS = {
  modern: new FakeServer({ era: 'modern', tools, capabilities }),
  plain: new FakeServer({ sessionful: false, tools, capabilities }),
  sessions: new FakeServer({ tools, capabilities }),
};
export type Kind = keyof typeof KINDS;
export const NAMES = Object.keys(KINDS) as Kind[];
const URI = 'note://1';
/** The three calls, under the names of `/mcp`. */
export const CALLS = {
  'tools/call': (name: string) => ({ name: `${name}.whoami`, arguments: { a: 1 } }),
  'prompts/get': (name: string) => ({ name: `${name}.greet` }),
  'resources/read': (name: string) => ({ uri: toQualifiedUri(name, URI) }),
};
export type Method = keyof typeof CALLS;
export const METHODS = Object.keys(CALLS) as Method[];
/** The servers' results. */
export const RESULTS: Record<Method, object> = {
  'tools/call': { content: [{ type: 'text', text: 'called' }] },
  'prompts/get': { messages: [] },
  'resources/read': { contents: [] },
};
/** Capabilities of a client that opens links. */
export const LINKS = { elicitation: { url: {} } };
export const linkTo = (name: string) => `${ORIGIN}/connect/${name}`;

function answer({ era }: FakeServer, post: SeenPost, result: object): Response {
  const base = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  return resultOf(post, era === 'modern' ? { ...base, ...result } : result);
}

/** Connects the servers before the tests of a file, and removes all accounts before each. @returns a person without an account */
export function useAccountServers(): { portico: typeof portico; ada: Person } {
  const found = { portico, ada: undefined as unknown as Person };
  beforeAll(async () => {
    for (const server of Object.values(KINDS)) {
      const answers: [string, object][] = [
        ['prompts/list', { prompts: [{ name: 'greet' }] }],
        ['resources/list', { resources: [{ uri: URI, name: 'note' }] }],
        ...METHODS.slice(1).map(method => [method, RESULTS[method]] as [string, object]),
      ];
      for (const [method, result] of answers) {
        server.answers.set(method, post => answer(server, post, result));
      }
      server.call = post => answer(server, post, RESULTS['tools/call']);
    }
    serve(KINDS);
    for (const name of NAMES) await registerConnected(portico, name, { accounts: 'per_principal' });
  });
  beforeEach(async () => {
    serve(KINDS);
    for (const name of NAMES) KINDS[name].posts.length = 0;
    await env.DB.prepare('DELETE FROM accounts').run();
    found.ada = await createPerson(portico);
  });
  return found;
}

export const connect = ({ token }: Person, server: string) =>
  portico.api('POST', '/api/v1/accounts', { server, token: 'of-ada' }, { token });

/** The outcomes of a person's calls, from their rows. */
export const told = async (person: Person) =>
  (await rowsOf(portico, person))
    .filter(({ action }) => action !== 'account.connect')
    .map(({ outcome, code }) => [outcome, code]);
