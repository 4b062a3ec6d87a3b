/**
 * Named secrets: put, list, compare, delete. Write-only: a value is sent only to the origins it was given for, and never shown. Each
 * operation is one administrative act with an audit row.
 */
import { ALWAYS, type AdminAudit } from '../audit/admin-audit.ts';
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import { onEitherSchema } from '../shared/util/either-schema.ts';
import { refuseFields } from '../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../shared/errors/portico-error.ts';
import { decideAddress } from '../http/address-policy.ts';
import { openEnvelope, sealEnvelope } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import {
  secretPlace,
  type CompareSecrets,
  type PutSecret,
  type Secret,
  type SecretUser,
} from './secret-schema.ts';
import {
  countSecrets,
  deleteSecret,
  findSecrets,
  listSecretProviders,
  listSecrets,
  listSecretUsers,
  MAX_SECRETS,
  upsertSecret,
  whenPuttable,
  whenUnused,
} from './secret-store.ts';

export interface SecretPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  allowsLoopback: boolean;
  /** Marks the registry that this isolate remembers as stale. */
  invalidateRegistry(): void;
  /** Wakes the monitors of the servers that refer to a changed secret. */
  onChanged(serverIds: readonly string[]): Promise<unknown>;
}

export class SecretService {
  readonly #ports: SecretPorts;

  constructor(ports: SecretPorts) {
    this.#ports = ports;
  }

  /**
   * Creates a secret, or replaces value and origins of an existing one.
   * @param ifRevision refuses the write if the secret is at another revision; 0: if it exists
   * @throws PorticoError `forbidden`, `validation_failed`, `precondition_failed`, `conflict` if a server that refers to it is at none of
   * the origins
   */
  put(
    caller: Actor,
    name: string,
    input: PutSecret,
    ifRevision?: number,
  ): Promise<{ secret: Secret; users: SecretUser[] }> {
    const { db, keys, adminAudit } = this.#ports;
    const act = { action: 'secret.put', subject: name };
    return adminAudit.perform(caller, 'secrets:write', act, async commit => {
      const origins = this.#parseOrigins(input.origins);
      const users = (await listSecretUsers(db)).filter(user => user.names.includes(name));
      checkUsers(name, origins, users);
      const sealed = await sealEnvelope(keys, input.value, secretPlace({ name, origins }));
      const when = whenPuttable(name, ifRevision);
      const row = { name, sealed, origins, updated_at: Date.now() };
      const statements = [upsertSecret(db, row, when)];
      if (!(await commit({ when, statements, detail: { origins } })))
        throw await this.#whyNot(name);
      this.#ports.invalidateRegistry();
      await this.#ports.onChanged(users.map(({ id }) => id));
      const [secret] = await findSecrets(db, [name]);
      if (!secret) throw new PorticoError('not_found', 'It was deleted meanwhile');
      return { secret, users };
    });
  }

  /** Returns why a secret was not written. */
  async #whyNot(name: string): Promise<PorticoError> {
    const { db } = this.#ports;
    const [secret] = await findSecrets(db, [name]);
    if (!secret && (await countSecrets(db)) >= MAX_SECRETS) {
      return new PorticoError('conflict', `There are ${MAX_SECRETS} secrets already`);
    }
    return new PorticoError('precondition_failed', 'It was changed meanwhile; read it again');
  }

  /** Lists the secrets without values. Listing leaves an audit row too. */
  async list(caller: Actor): Promise<{ secrets: Secret[]; users: SecretUser[] }> {
    requireScope(caller, 'secrets:write');
    const { db, adminAudit } = this.#ports;
    const act = { action: 'secret.list', subject: 'secrets' };
    return adminAudit.perform(caller, 'secrets:write', act, async commit => {
      const secrets = await listSecrets(db);
      const users = await listSecretUsers(db);
      await commit({ when: ALWAYS, statements: [], detail: { count: secrets.length } });
      return { secrets, users };
    });
  }

  /** Returns the names of the secrets whose values equal the given ones. Comparing leaves an audit row too. */
  async compare(caller: Actor, { secrets }: CompareSecrets): Promise<string[]> {
    const { db, keys, adminAudit } = this.#ports;
    const act = { action: 'secret.compare', subject: 'secrets' };
    return adminAudit.perform(caller, 'secrets:write', act, async commit => {
      const found = await findSecrets(
        db,
        secrets.map(({ name }) => name),
      );
      const valueOf = new Map<string, string | undefined>();
      for (const secret of found) {
        valueOf.set(secret.name, await openEnvelope(keys, secret.sealed, secretPlace(secret)));
      }
      await commit({ when: ALWAYS, statements: [], detail: { count: secrets.length } });
      return secrets.flatMap(({ name, value }) => (valueOf.get(name) === value ? name : []));
    });
  }

  /** @throws PorticoError `forbidden`, `not_found`, `conflict` while a server or a sign-in provider refers to it */
  delete(caller: Actor, name: string): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = { action: 'secret.delete', subject: name };
    return adminAudit.perform(caller, 'secrets:write', act, async commit => {
      const isDone = await onEitherSchema(age => {
        const when = whenUnused(name, age);
        return commit({ when, statements: [deleteSecret(db, name, when)] });
      });
      if (isDone) return;
      const [secret] = await findSecrets(db, [name]);
      if (!secret) throw new PorticoError('not_found', 'No such secret');
      const users = (await listSecretUsers(db)).filter(user => user.names.includes(name));
      const servers = users.map(user => user.name).join(', ');
      if (servers !== '') throw new PorticoError('conflict', `Servers refer to it: ${servers}`);
      const providers = await listSecretProviders(db, name);
      throw new PorticoError('conflict', `Sign-in providers refer to it: ${providers.join(', ')}`);
    });
  }

  /** @throws PorticoError `validation_failed` with every text that is no origin, or no allowed one */
  #parseOrigins(given: readonly string[]): string[] {
    const fields: FieldProblem[] = [];
    const origins = given.map((text, i) => {
      const decision = decideAddress(text, this.#ports.allowsLoopback);
      const field = `origins.${i}`;
      if (!decision.allowed) fields.push({ field, message: decision.reason });
      else if (decision.url.href !== `${decision.url.origin}/`) {
        fields.push({ field, message: 'use an origin: scheme, host and port, without a path' });
      }
      return decision.allowed ? decision.url.origin : '';
    });
    refuseFields(fields);
    return [...new Set(origins)].toSorted();
  }
}

/** A secret with fewer origins must still be allowed wherever it is sent for a server. */
function checkUsers(name: string, origins: readonly string[], users: readonly SecretUser[]): void {
  const cutOff = users.filter(({ sentTo }) =>
    sentTo.some(({ origin, names }) => names.includes(name) && !origins.includes(origin)),
  );
  if (cutOff.length === 0) return;
  const servers = cutOff.map(user => user.name).join(', ');
  throw new PorticoError('conflict', `Servers at other origins refer to it: ${servers}`);
}
