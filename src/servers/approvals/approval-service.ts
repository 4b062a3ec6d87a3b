/**
 * Approvals: what waits, what differs, and the decisions on it. A decision is one act, on everything it names or on nothing: each item
 * names the fingerprint that was looked at, and where one is another by now nothing is decided. After it the servers' monitors look
 * again, since only they offer tools.
 */
import type { Acts } from '../../audit/admin-audit.ts';
import { type Actor, requireServerScope } from '../../shared/identity/principal.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import { administeredIds } from '../registry/administered.ts';
import { parseTotal } from '../registry/server-list-store.ts';
import type { Approve, DecisionItem, Reject } from './approval-schema.ts';
import {
  decide,
  listAlike,
  whenApprovable,
  whenRejectable,
  type Decision,
  type Demands,
} from './decision-store.ts';
import { pinId } from './definition.ts';
import { LookAlikes } from './confusable-names.ts';
import { WAITING, type Pin } from '../registry/fingerprint.ts';
import {
  findPins,
  findWholePin,
  parsePins,
  parseStamp,
  selectPinPage,
  selectPinTotal,
  selectStamp,
  type ListedPin,
  type PinFilter,
  type PinPosition,
  type WholePin,
} from './fingerprint-list-store.ts';

export interface ApprovalPorts {
  db: D1Database;
  acts: Acts;
  /** The server's monitor looks at it soon. */
  look(serverId: string): Promise<void>;
}

export interface PinPage extends ListPage<ListedPin> {
  total: number;
  /** Of the one server that was asked for: changes with each of its pins. */
  version?: string;
}

/** What was decided. */
export interface Decided {
  decided: number;
  serverIds: string[];
}

/** Most pins of one server: those of its tools, its instructions, and those that are gone. */
const MAX_PINS = 10_000;
/** Most names in the audit row of a decision, and the longest. */
const MAX_TOLD = 100;
const MAX_TOLD_CHARS = 200;

type Verb = 'approve' | 'reject';

export class ApprovalService {
  readonly #ports: ApprovalPorts;

  constructor(ports: ApprovalPorts) {
    this.#ports = ports;
  }

  /** One page, what changed last first. @throws PorticoError `forbidden`, `not_found` */
  async list(
    caller: Actor,
    filter: PinFilter,
    limit: number,
    after?: PinPosition,
  ): Promise<PinPage> {
    requireServerScope(caller, 'servers:read');
    const { db } = this.#ports;
    const serverIds = await administeredIds(db, caller);
    const within = { ...filter, serverIds };
    const [page, total, stamps] = await db.batch([
      selectPinPage(db, within, after, limit + 1),
      selectPinTotal(db, within),
      selectStamp(db, filter.serverId ?? ''),
    ]);
    const stamp = parseStamp(stamps?.results ?? []);
    if (filter.serverId !== undefined) {
      if (stamp === undefined || !isWithin(serverIds, filter.serverId)) throw noServer();
    }
    const pins = parsePins(page?.results ?? []).map(pin => withReasonWithin(serverIds, pin));
    return {
      ...toListPage(pins, limit, ({ changedAt, id }) => [changedAt, id]),
      total: parseTotal(total?.results ?? []),
      ...(stamp ? { version: stamp } : {}),
    };
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Actor, id: string): Promise<WholePin> {
    requireServerScope(caller, 'servers:read');
    const { db } = this.#ports;
    const serverIds = await administeredIds(db, caller);
    const pin = await findWholePin(db, id);
    if (!pin || !isWithin(serverIds, pin.serverId)) throw noPin();
    return withReasonWithin(serverIds, pin);
  }

  /** @throws PorticoError `forbidden`, `not_found`, `conflict` (a name misleads), `precondition_failed`, `busy` */
  approve(caller: Actor, input: Approve): Promise<Decided> {
    const acceptsQuarantined = 'items' in input && input.accept_quarantined;
    return this.#decide(caller, 'approve', input, acceptsQuarantined);
  }

  /** What is approved can be rejected too. @throws PorticoError `forbidden`, `not_found`, `precondition_failed`, `busy` */
  reject(caller: Actor, input: Reject): Promise<Decided> {
    return this.#decide(caller, 'reject', input, true);
  }

  async #decide(
    caller: Actor,
    verb: Verb,
    input: Approve | Reject,
    acceptsQuarantined: boolean,
  ): Promise<Decided> {
    const { acts, db, look } = this.#ports;
    const servers = 'items' in input ? input.items.map(item => item.server_id) : [input.server_id];
    const serverIds = [...new Set(servers)];
    const subject = serverIds.length === 1 ? (serverIds[0] ?? '') : 'servers';
    const decided = await acts.perform(
      caller,
      'servers:write',
      { action: `tool.${verb}`, subject, isOfServers: true },
      async commit => {
        const within = await administeredIds(db, caller);
        if (!serverIds.every(id => isWithin(within, id))) {
          throw 'items' in input ? noPin() : noServer();
        }
        const decisions =
          'items' in input
            ? await this.#pick(input.items)
            : await this.#pickWaiting(input.server_id, input.version, verb);
        const demands: Demands = {
          acceptsQuarantined,
          version:
            'items' in input ? undefined : { serverId: input.server_id, stamp: input.version },
        };
        if (verb === 'approve' && !acceptsQuarantined) {
          const compared = await listAlike(db, decisions);
          checkNames(decisions, compared);
          demands.compared = compared.length;
        }
        const when = verb === 'approve' ? whenApprovable : whenRejectable;
        const condition = when(decisions, demands);
        const stamp = crypto.randomUUID();
        const isDone = await commit({
          when: condition,
          statements:
            decisions.length === 0 ? [] : decide(db, verb, decisions, condition, stamp, Date.now()),
          detail: await toDetail(decisions, acceptsQuarantined && verb === 'approve'),
        });
        if (!isDone) throw await this.#explain(decisions, verb);
        return decisions.length;
      },
    );
    await Promise.all(serverIds.map(look));
    return { decided, serverIds };
  }

  /** @throws PorticoError `not_found` */
  async #pick(items: readonly DecisionItem[]): Promise<Picked[]> {
    const picked = await Promise.all(
      items.map(async ({ server_id: serverId, kind, name, fingerprint }) => ({
        id: await pinId(serverId, kind, name),
        fingerprint,
      })),
    );
    const byId = new Map(picked.map(decision => [decision.id, decision]));
    if (byId.size < picked.length) {
      throw fieldProblem('items', 'one is there twice');
    }
    const pins = await findPins(this.#ports.db, [...byId.keys()]);
    if (pins.length < byId.size) throw noPin();
    return pins.map(pin => ({ ...pin, fingerprint: byId.get(pin.id)?.fingerprint ?? '' }));
  }

  /** What waits at a server; of what is quarantined nothing is approved with the rest. */
  async #pickWaiting(serverId: string, version: string, verb: Verb): Promise<Picked[]> {
    const { db } = this.#ports;
    const [rows, stamps] = await db.batch([
      selectPinPage(db, { serverId, states: WAITING }, undefined, MAX_PINS),
      selectStamp(db, serverId),
    ]);
    const stamp = parseStamp(stamps?.results ?? []);
    if (stamp === undefined) throw noServer();
    if (stamp !== version) throw changedMeanwhile();
    return parsePins(rows?.results ?? [])
      .filter(({ reason }) => verb === 'reject' || reason === null)
      .map(pin => ({ ...pin, fingerprint: pin.heldFingerprint ?? '' }));
  }

  /** Why nothing was decided. */
  async #explain(decisions: readonly Picked[], verb: Verb): Promise<PorticoError> {
    const { db } = this.#ports;
    const pins = await findPins(
      db,
      decisions.map(({ id }) => id),
    );
    if (pins.length < decisions.length) return noPin();
    const now = new Map(pins.map(pin => [pin.id, pin]));
    const isStale = ({ id, fingerprint }: Picked) => {
      const pin = now.get(id);
      const isHeld = pin?.heldFingerprint === fingerprint;
      return !isHeld && !(verb === 'reject' && pin?.approvedFingerprint === fingerprint);
    };
    return decisions.some(isStale) ? changedMeanwhile() : misleading();
  }
}

/** @param serverIds those that the caller administers; undefined: all */
const isWithin = (serverIds: readonly string[] | undefined, serverId: string): boolean =>
  serverIds?.includes(serverId) ?? true;

/** A pin without the name of a tool that its caller does not administer. */
function withReasonWithin<T extends Pin>(serverIds: readonly string[] | undefined, pin: T): T {
  const { reason } = pin;
  if (reason?.kind !== 'look_alike' || isWithin(serverIds, reason.serverId)) return pin;
  return { ...pin, reason: { ...reason, serverId: '', name: '' } };
}

/** A pin and what is decided on. */
interface Picked extends Decision {
  kind: ListedPin['kind'];
  name: string;
  skeleton: string;
  serverName: string;
  approvedFingerprint: string | null;
}

/**
 * @param compared names that are approved
 * @throws PorticoError `conflict` where one that is new can be taken for another of them, or for one that is approved
 */
function checkNames(decisions: readonly Picked[], compared: readonly { other: string }[]): void {
  const names = new LookAlikes<true>();
  for (const { other } of compared) names.add(other, true);
  for (const { kind, name, approvedFingerprint } of decisions) {
    if (kind !== 'tool' || approvedFingerprint !== null) continue;
    if (names.find(name)) throw misleading();
    names.add(name, true);
  }
}

/** What the audit keeps: the first names, how many there are, and a digest of all. */
async function toDetail(decisions: readonly Picked[], acceptsQuarantined: boolean) {
  const lines = decisions.map(({ id, fingerprint }) => `${id} ${fingerprint}`).toSorted();
  return {
    count: decisions.length,
    items: decisions.slice(0, MAX_TOLD).map(({ serverName, kind, name, fingerprint }) => ({
      server: serverName,
      kind,
      name: name.slice(0, MAX_TOLD_CHARS),
      fingerprint,
    })),
    digest: await sha256Hex(lines.join('\n')),
    ...(acceptsQuarantined ? { accept_quarantined: true } : {}),
  };
}

const noServer = () => new PorticoError('not_found', 'No such server');
const noPin = () => new PorticoError('not_found', 'No such tool is known of this server');
const changedMeanwhile = () =>
  new PorticoError('precondition_failed', 'It is held with another definition now, or not at all');
const misleading = () =>
  new PorticoError(
    'conflict',
    'A name misleads: approve that tool by itself, with accept_quarantined',
  );
