/**
 * The part of the REST API that configuration files use, in memory: references, unique names, revisions and owners. It can fail after a
 * number of requests, before or after it carries out the last one.
 */
import { kindOf, KINDS } from '../../../cli/src/configuration/kinds.ts';
import type { Content, Known } from '../../../cli/src/configuration/content.ts';
import { createNames, type Names } from '../../../cli/src/configuration/names.ts';
import { Failure } from '../../../cli/src/failure.ts';
import { Unanswered } from '../../../cli/src/gateway/api.ts';
import type { Configuration } from '../../../src/api/configuration-file.ts';
import { namesIn } from '../../../src/credentials/references.ts';
import {
  parseOwnerHeader,
  type OwnedKind,
  type RecordOwner,
} from '../../../src/shared/identity/record-owner.ts';

interface Stored {
  kind: OwnedKind;
  id: string;
  revision: number;
  body: Content;
  owner?: RecordOwner;
}

const NULLABLE = ['headers', 'auth'];

export class ModelGateway {
  #records: Stored[] = [];
  #made = 0;
  #left = Infinity;
  #isLastDone = false;
  /** Writes, as `METHOD kind key`. */
  readonly writes: string[] = [];

  /** Answers this many more requests, then fails; carries out the failing one or not. */
  breakAfter(requests: number, isLastDone: boolean): void {
    this.#left = requests;
    this.#isLastDone = isLastDone;
  }

  async json<T>(method: string, path: string, text = '{}', headers: object = {}): Promise<T> {
    const isBroken = this.#left <= 0;
    this.#left -= 1;
    const isDone = !isBroken || (this.#isLastDone && this.#left === -1);
    const answer = isDone ? this.#answer(method, path, JSON.parse(text) as Content, headers) : {};
    if (isBroken) throw new Unanswered('broken off');
    return answer as T;
  }

  #answer(method: string, path: string, body: Content, headers: object): object {
    const asked = headers as Record<string, string>;
    const { 'portico-owner': header, 'if-match': match, 'if-none-match': none } = asked;
    const owner = header === undefined ? undefined : parseOwnerHeader(header);
    this.writes.push(`${method} ${path}`);
    if (path === '/api/v1/owners') {
      const { kind, id, ...mark } = body as unknown as RecordOwner & { kind: string; id: string };
      const found = this.#records.find(each => each.kind === kind && each.id === id);
      return found ? this.#mark(found, mark) : refuse('no such record');
    }
    const kind = KINDS.find(each => path === each.path || path.startsWith(`${each.path}/`));
    if (!kind) return refuse(`no route ${path}`);
    const id = decodeURIComponent(path.slice(kind.path.length + 1));
    const found = this.#records.find(each => each.kind === kind.kind && each.id === id);
    if (method === 'DELETE') return found ? this.#delete(found) : refuse('not found');
    const isStale = match !== undefined && match !== `"r${found?.revision}"`;
    if (isStale || (none === '*' && found)) return refuse('edited meanwhile');
    if (method === 'PATCH') {
      if (!found) return refuse('not found');
      return this.#store({ ...found, body: patched(found.body, body) }, owner);
    }
    if (method === 'PUT') {
      const [before] = found ? [found] : [{ kind: kind.kind, id, revision: 0 }];
      return this.#store({ ...before, body: { ...body, name: id } }, owner);
    }
    this.#made += 1;
    return this.#store({ kind: kind.kind, id: `id-${this.#made}`, revision: 0, body }, owner);
  }

  #delete(record: Stored): object {
    if (record.kind === 'secret' && this.#users(record.id).length > 0) refuse('is used');
    this.#records = this.#records.filter(each => each !== record);
    if (record.kind === 'server') {
      this.#drop('cache_rule', ({ server }) => server === record.body['name']);
    }
    if (record.kind === 'principal') {
      this.#drop('budget', ({ subject }) => (subject as { id?: string }).id === record.id);
    }
    return {};
  }

  #drop(kind: OwnedKind, isGone: (body: Content) => boolean): void {
    this.#records = this.#records.filter(each => each.kind !== kind || !isGone(each.body));
  }

  #store(record: Stored, owner: RecordOwner | undefined): object {
    this.#check(record);
    const stored = { ...record, revision: record.revision + 1 };
    const at = this.#records.findIndex(({ kind, id }) => kind === record.kind && id === record.id);
    if (at === -1) this.#records.push(stored);
    else this.#records[at] = stored;
    if (owner) this.#mark(stored, owner);
    return { id: record.id, revision: stored.revision };
  }

  #mark(record: Stored, owner: RecordOwner): object {
    for (const each of this.#records) {
      const isTwin = each.kind === record.kind && each.owner?.key === owner.key;
      if (isTwin && each.owner?.owner === owner.owner) delete each.owner;
    }
    record.owner = owner;
    return {};
  }

  #users(secret: string): Stored[] {
    return this.#records.filter(({ kind, body }) => kind === 'server' && uses(body, secret));
  }

  #named(kind: OwnedKind): string[] {
    return this.#records.filter(each => each.kind === kind).map(each => String(each.body['name']));
  }

  /** Checks what must exist before the write, and what must not. */
  #check({ kind, id, body }: Stored): void {
    const others = this.#records.filter(each => each.kind === kind && each.id !== id);
    const { hasOneOfEach, identityOf } = kindOf(kind);
    if (hasOneOfEach && others.some(each => identityOf(each.body) === identityOf(body))) {
      refuse(`${kind} ${identityOf(body)} is there already`);
    }
    if (kind === 'server') this.#checkCredential(body);
    if (kind === 'secret') {
      const origins = body['origins'] as string[];
      const cut = this.#users(id).filter(({ body: server }) => !origins.includes(originOf(server)));
      if (cut.length > 0) refuse(`servers at other origins refer to ${id}`);
    }
    const { server, subject, members } = body as {
      server?: string;
      subject?: { kind: string; id?: string };
      members?: { principals: string[] };
    };
    if (server && !server.includes('*') && !this.#named('server').includes(server)) {
      refuse(`there is no server ${server}`);
    }
    const people = new Set(
      this.#records.flatMap(each => (each.kind === 'principal' ? each.id : [])),
    );
    const wanted = [
      ...(subject?.kind === 'principal' ? [subject.id] : []),
      ...(members?.principals ?? []),
    ];
    for (const each of wanted) if (!people.has(each ?? '')) refuse(`there is no principal ${each}`);
  }

  #checkCredential(body: Content): void {
    const { connector } = body['connection_config'] as { connector?: string };
    if (connector !== undefined && !this.#named('connector').includes(connector)) {
      refuse(`there is no connector ${connector}`);
    }
    for (const name of secretsOf(body)) {
      const secret = this.#records.find(each => each.kind === 'secret' && each.id === name);
      const origins = (secret?.body['origins'] ?? []) as string[];
      if (!origins.includes(originOf(body))) refuse(`${name} may not go to ${originOf(body)}`);
    }
  }

  /** The records in the form of a file. */
  see(file: Configuration): { known: Known[]; names: Names } {
    const { owner, secrets = {} } = file;
    const of = (kind: OwnedKind) => this.#records.filter(each => each.kind === kind);
    const toNamed = ({ id, body }: Stored) => ({ id, name: String(body['name']) });
    const names = createNames(file, {
      servers: of('server').map(toNamed),
      connectors: of('connector').map(toNamed),
      principals: of('principal').map(each => ({
        ...toNamed(each),
        ...(each.owner?.owner === owner ? { key: each.owner.key } : {}),
      })),
    });
    const known = KINDS.flatMap(kind =>
      of(kind.kind)
        .toReversed()
        .map(({ id, revision, body, owner: mark }): Known => {
          const isSame = body['value'] === `value of ${id}`;
          const value = isSame ? (secrets[id]?.value ?? '') : 'another value';
          const view = kind.kind === 'secret' ? { ...body, value } : toView(kind.kind, body);
          const content = kind.ofView(view, names);
          return { kind: kind.kind, id, content, revision, ...(mark ? { owner: mark } : {}) };
        }),
    );
    return { known, names };
  }
}

/** What the API returns, which has more than the request. */
function toView(kind: OwnedKind, body: Content): object {
  if (kind !== 'server') return body;
  const config = body['connection_config'] as Content;
  const place = { url: 'connector:', headers: {}, auth: null, ...config };
  return { health_check: {}, ...body, connection_config: place };
}

function patched(before: Content, patch: Content): Content {
  const after: Content = { ...before };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null && name !== 'scopes') delete after[name];
    else after[name] = value;
  }
  const config = patch['connection_config'];
  if (config && typeof config === 'object' && !Array.isArray(config)) {
    const kept = Object.entries(config).filter(
      ([name, value]) => !(NULLABLE.includes(name) && value === null),
    );
    after['connection_config'] = Object.fromEntries(kept);
  }
  return after;
}

const originOf = (body: Content): string => {
  const { url } = body['connection_config'] as { url?: string };
  return url === undefined ? '' : new URL(url).origin;
};

const secretsOf = (body: Content): string[] => {
  const { headers = {} } = body['connection_config'] as { headers?: Record<string, string> };
  return Object.values(headers ?? {}).flatMap(text => namesIn(text) ?? []);
};
const uses = (body: Content, secret: string): boolean => secretsOf(body).includes(secret);

function refuse(why: string): never {
  throw new Failure(why);
}
