/** Servers whose lists differ by account: by their bearer tokens, and complete for the deployment. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { createPerson, type Person } from './call-rows.ts';
import { FakeServer, resultOf, serve, toolOf, type SeenPost } from './fake-server.ts';
import {
  ask,
  createPortico,
  initialize,
  inSession,
  PATIENT,
  registerConnected,
  TRUSTED,
  type RpcAnswer,
} from './portico.ts';

const capabilities = { prompts: {}, resources: {} };
const MEMBERS = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
} as const;
export type ListMethod = keyof typeof MEMBERS;
const itemOf: Record<ListMethod, (key: string) => object> = {
  'tools/list': key => toolOf(key, { description: `Does ${key}` }),
  'prompts/list': key => ({ name: key }),
  'resources/list': key => ({ uri: key, name: 'note' }),
  'resources/templates/list': key => ({ uriTemplate: key, name: 'notes' }),
};
/** All items, by list. */
export const ALL: Record<ListMethod, readonly string[]> = {
  'tools/list': ['read', 'write', 'drop'],
  'prompts/list': ['greet', 'sack'],
  'resources/list': ['note://1', 'note://2'],
  'resources/templates/list': ['note://{id}', 'pay://{id}'],
};

/** The bearer token of a request; empty if there was none. */
export const tokenOf = ({ headers }: SeenPost): string =>
  (headers.get('authorization') ?? '').slice('Bearer '.length);

export class OwnCatalogServer extends FakeServer {
  /** Keys listed to tokens without an entry in `own`. */
  readonly shared = new Map<string, readonly string[]>(Object.entries(ALL));
  /** By token, then list: the listed keys, if they differ. */
  readonly own = new Map<string, Partial<Record<ListMethod, readonly string[]>>>();
  /** Answers lists, or holds them, while set. */
  before: ((post: SeenPost) => Response | Promise<void> | undefined) | undefined;

  constructor(options: ConstructorParameters<typeof FakeServer>[0]) {
    super({ capabilities, ...options });
    const base =
      options?.era === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
    for (const method of Object.keys(MEMBERS) as ListMethod[]) {
      const [member] = MEMBERS[method];
      this.answers.set(method, async post => {
        const failed = await this.before?.(post);
        if (failed) return failed;
        const keys = this.own.get(tokenOf(post))?.[method] ?? this.shared.get(method) ?? [];
        return resultOf(post, { ...base, [member]: keys.map(itemOf[method]) });
      });
    }
  }

  /** Everything works and is the same for everybody. */
  reset(): void {
    this.own.clear();
    this.before = undefined;
    this.posts.length = 0;
    this.ended.length = 0;
  }

  /** Requests with this token. */
  by(token: string, method: string): SeenPost[] {
    return this.of(method).filter(post => tokenOf(post) === token);
  }
}

export const KINDS = {
  modern: new OwnCatalogServer({ era: 'modern' }),
  plain: new OwnCatalogServer({ sessionful: false }),
  sessions: new OwnCatalogServer({}),
};
export type ServerKind = keyof typeof KINDS;
export const NAMES = Object.keys(KINDS) as ServerKind[];

/** The credential with which the deployment reads the shared catalog. */
const OF_ALL = { type: 'bearer', token: 'of-all' };

/** Ada, to whom everything is listed, and Bob; both without accounts before each test. */
export function useOwnCatalogs() {
  const portico = createPortico();
  const people = { ada: {} as Person, bob: {} as Person };
  const ids = {} as Record<ServerKind, string>;
  beforeAll(async () => {
    serve(KINDS);
    for (const name of NAMES) {
      const made = await registerConnected(portico, name, {
        accounts: 'per_principal',
        connection_config: { url: `https://${name}.example.com/mcp`, auth: OF_ALL },
        ...TRUSTED,
      });
      ids[name] = made.id;
    }
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  beforeEach(async () => {
    serve(KINDS);
    for (const name of NAMES) KINDS[name].reset();
    await env.DB.prepare('DELETE FROM accounts').run();
    for (const login of ['ada', 'bob'] as const) {
      Object.assign(people[login], await createPerson(portico, { name: login }));
    }
  });
  const connect = ({ token: by }: Person, server: string, token: string) =>
    portico.api('POST', '/api/v1/accounts', { server, token }, { token: by });

  /** A person's request in either era. */
  async function rpc(
    { token }: Person,
    method: string,
    params: Record<string, unknown> = {},
    era: 'legacy' | 'modern' = 'modern',
    path = '/mcp',
  ): Promise<RpcAnswer> {
    const { message, headers } = ask(era, method, params);
    const session = era === 'legacy' ? inSession(await initialize(portico, { token }, path)) : {};
    const sent = { token, headers: { ...headers, ...session } };
    return (await portico.post(message, sent, path)).json<RpcAnswer>();
  }

  /** The keys of a list, as a person sees them at `/mcp/servers/{name}`. */
  async function keysOf(
    person: Person,
    server: string,
    method: ListMethod = 'tools/list',
    era: 'legacy' | 'modern' = 'modern',
  ): Promise<string[]> {
    const { result = {} } = await rpc(person, method, {}, era, `/mcp/servers/${server}`);
    const [member, key] = MEMBERS[method];
    const items = (result[member] ?? []) as Record<string, string>[];
    return items.map(item => item[key] ?? '').toSorted();
  }

  /** Waits until these keys are listed to a person. */
  const whenListed = (person: Person, server: string, keys: readonly string[]) =>
    vi.waitFor(async () => {
      const listed = await keysOf(person, server);
      if (listed.join() !== keys.toSorted().join()) throw new Error(`lists ${listed.join()}`);
    }, PATIENT);

  /** Waits until the lists of a person's account at a server were read. @returns what they lack */
  const whenRead = ({ principalId }: Person, server: ServerKind) =>
    vi.waitFor(async () => {
      const row = await env.DB.prepare(
        `SELECT a.own_lists, a.own_lists_at AS at, a.own_lists_of = s.catalog_hash AS is_read FROM accounts AS a
         JOIN servers AS s ON s.id = a.server_id WHERE a.principal_id = ? AND s.id = ?`,
      )
        .bind(principalId, ids[server])
        .first<{ own_lists: string | null; at: number; is_read: number | null }>();
      if (row?.is_read !== 1) throw new Error('not read yet');
      return row;
    }, PATIENT);

  return { portico, people, ids, connect, rpc, keysOf, whenListed, whenRead };
}
