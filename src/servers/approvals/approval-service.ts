/**
 * Approvals: lists what waits, shows what differs, and records decisions. A decision is one administrative act and covers everything it
 * names or nothing: each item names the fingerprint that the administrator saw, and if one has changed since, nothing is decided. The
 * servers' monitors learn of it before and after, since only they publish tools.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
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
import { approvalId } from './definition.ts';
import { ConfusableNames } from './confusable-names.ts';
import { WAITING, type ApprovalRecord } from '../registry/approval.ts';
import {
  findApprovals,
  findWholeApproval,
  parseApprovals,
  parseStamp,
  selectApprovalPage,
  selectApprovalTotal,
  selectStamp,
  type ListedApproval,
  type ApprovalFilter,
  type ApprovalPosition,
  type WholeApproval,
} from './approval-list-store.ts';

export interface ApprovalPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** Makes the server's monitor read its row: now, or after a while, should nobody tell it of the decision. */
  expect(serverId: string, inMs?: number): Promise<void>;
}

export interface ApprovalPage extends ListPage<ListedApproval> {
  total: number;
  /** Stamp of the requested server, if one was requested: changes with each of its approvals. */
  version?: string;
}

/** Result of a decision. */
export interface Decided {
  decided: number;
  serverIds: string[];
}

/** Maximum number of approvals of one server: of its tools, its instructions, and those that are gone. */
const MAX_APPROVALS = 10_000;
/** Maximum number of names in the audit row of a decision, and their maximum length. */
const MAX_NAMES = 100;
const MAX_NAME_CHARS = 200;

type Verb = 'approve' | 'reject';

export class ApprovalService {
  readonly #ports: ApprovalPorts;

  constructor(ports: ApprovalPorts) {
    this.#ports = ports;
  }

  /** Returns one page, ordered by most recent change. @throws PorticoError `forbidden`, `not_found` */
  async list(
    caller: Actor,
    filter: ApprovalFilter,
    limit: number,
    after?: ApprovalPosition,
  ): Promise<ApprovalPage> {
    requireServerScope(caller, 'servers:read');
    const { db } = this.#ports;
    const serverIds = await administeredIds(db, caller);
    const within = { ...filter, serverIds };
    const [page, total, stamps] = await db.batch([
      selectApprovalPage(db, within, after, limit + 1),
      selectApprovalTotal(db, within),
      selectStamp(db, filter.serverId ?? ''),
    ]);
    const stamp = parseStamp(stamps?.results ?? []);
    if (filter.serverId !== undefined) {
      if (stamp === undefined || !isWithin(serverIds, filter.serverId)) throw noServer();
    }
    const approvals = parseApprovals(page?.results ?? []).map(approval =>
      withReasonWithin(serverIds, approval),
    );
    return {
      ...toListPage(approvals, limit, ({ changedAt, id }) => [changedAt, id]),
      total: parseTotal(total?.results ?? []),
      ...(stamp ? { version: stamp } : {}),
    };
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Actor, id: string): Promise<WholeApproval> {
    requireServerScope(caller, 'servers:read');
    const { db } = this.#ports;
    const serverIds = await administeredIds(db, caller);
    const approval = await findWholeApproval(db, id);
    if (!approval || !isWithin(serverIds, approval.serverId)) throw noApproval();
    return withReasonWithin(serverIds, approval);
  }

  /** @throws PorticoError `forbidden`, `not_found`, `conflict` (a name misleads), `precondition_failed`, `busy` */
  approve(caller: Actor, input: Approve): Promise<Decided> {
    const acceptsQuarantined = 'items' in input && input.accept_quarantined;
    return this.#decide(caller, 'approve', input, acceptsQuarantined);
  }

  /** Rejects held or approved definitions. @throws PorticoError `forbidden`, `not_found`, `precondition_failed`, `busy` */
  reject(caller: Actor, input: Reject): Promise<Decided> {
    return this.#decide(caller, 'reject', input, true);
  }

  async #decide(
    caller: Actor,
    verb: Verb,
    input: Approve | Reject,
    acceptsQuarantined: boolean,
  ): Promise<Decided> {
    const { adminAudit, db, expect } = this.#ports;
    const servers = 'items' in input ? input.items.map(item => item.server_id) : [input.server_id];
    const serverIds = [...new Set(servers)];
    const subject = serverIds.length === 1 ? (serverIds[0] ?? '') : 'servers';
    const decided = await adminAudit.perform(
      caller,
      'servers:write',
      { action: `tool.${verb}`, subject, isOfServers: true },
      async commit => {
        const within = await administeredIds(db, caller);
        if (!serverIds.every(id => isWithin(within, id))) {
          throw 'items' in input ? noApproval() : noServer();
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
        await Promise.all(serverIds.map(id => expect(id)));
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
    // The decision is made: a monitor that cannot be told now applies it soon.
    await Promise.allSettled(serverIds.map(id => expect(id, 0)));
    return { decided, serverIds };
  }

  /** @throws PorticoError `not_found` */
  async #pick(items: readonly DecisionItem[]): Promise<Picked[]> {
    const picked = await Promise.all(
      items.map(async ({ server_id: serverId, kind, name, fingerprint }) => ({
        id: await approvalId(serverId, kind, name),
        fingerprint,
      })),
    );
    const byId = new Map(picked.map(decision => [decision.id, decision]));
    if (byId.size < picked.length) {
      throw fieldProblem('items', 'one is given twice');
    }
    const approvals = await findApprovals(this.#ports.db, [...byId.keys()]);
    if (approvals.length < byId.size) throw noApproval();
    return approvals.map(approval => ({
      ...approval,
      fingerprint: byId.get(approval.id)?.fingerprint ?? '',
    }));
  }

  /** Picks everything that waits at a server. A bulk approval leaves quarantined tools out. */
  async #pickWaiting(serverId: string, version: string, verb: Verb): Promise<Picked[]> {
    const { db } = this.#ports;
    const [rows, stamps] = await db.batch([
      selectApprovalPage(db, { serverId, states: WAITING }, undefined, MAX_APPROVALS),
      selectStamp(db, serverId),
    ]);
    const stamp = parseStamp(stamps?.results ?? []);
    if (stamp === undefined) throw noServer();
    if (stamp !== version) throw changedMeanwhile();
    return parseApprovals(rows?.results ?? [])
      .filter(({ reason }) => verb === 'reject' || reason === null)
      .map(approval => ({ ...approval, fingerprint: approval.heldFingerprint ?? '' }));
  }

  /** Finds out why nothing was decided. */
  async #explain(decisions: readonly Picked[], verb: Verb): Promise<PorticoError> {
    const { db } = this.#ports;
    const approvals = await findApprovals(
      db,
      decisions.map(({ id }) => id),
    );
    if (approvals.length < decisions.length) return noApproval();
    const now = new Map(approvals.map(approval => [approval.id, approval]));
    const isStale = ({ id, fingerprint }: Picked) => {
      const approval = now.get(id);
      const isHeld = approval?.heldFingerprint === fingerprint;
      return !isHeld && !(verb === 'reject' && approval?.approvedFingerprint === fingerprint);
    };
    return decisions.some(isStale) ? changedMeanwhile() : misleading();
  }
}

/** @param serverIds the servers that the caller administers; undefined: all */
const isWithin = (serverIds: readonly string[] | undefined, serverId: string): boolean =>
  serverIds?.includes(serverId) ?? true;

/** Hides the name of a look-alike tool whose server the caller does not administer. */
function withReasonWithin<T extends ApprovalRecord>(
  serverIds: readonly string[] | undefined,
  approval: T,
): T {
  const { reason } = approval;
  if (reason?.kind !== 'look_alike' || isWithin(serverIds, reason.serverId)) return approval;
  return { ...approval, reason: { ...reason, serverId: '', name: '' } };
}

/** An approval with the fingerprint that is decided on. */
interface Picked extends Decision {
  kind: ListedApproval['kind'];
  name: string;
  skeleton: string;
  serverName: string;
  approvedFingerprint: string | null;
}

/**
 * @param compared names that are approved
 * @throws PorticoError `conflict` if a new name can be mistaken for another new one or for an approved one
 */
function checkNames(decisions: readonly Picked[], compared: readonly { other: string }[]): void {
  const names = new ConfusableNames<true>();
  for (const { other } of compared) names.add(other, true);
  for (const { kind, name, approvedFingerprint } of decisions) {
    if (kind !== 'tool' || approvedFingerprint !== null) continue;
    if (names.find(name)) throw misleading();
    names.add(name, true);
  }
}

/** Builds the audit detail: the first names, the count, and a digest of all decisions. */
async function toDetail(decisions: readonly Picked[], acceptsQuarantined: boolean) {
  const lines = decisions.map(({ id, fingerprint }) => `${id} ${fingerprint}`).toSorted();
  return {
    count: decisions.length,
    items: decisions.slice(0, MAX_NAMES).map(({ serverName, kind, name, fingerprint }) => ({
      server: serverName,
      kind,
      name: name.slice(0, MAX_NAME_CHARS),
      fingerprint,
    })),
    digest: await sha256Hex(lines.join('\n')),
    ...(acceptsQuarantined ? { accept_quarantined: true } : {}),
  };
}

const noServer = () => new PorticoError('not_found', 'No such server');
const noApproval = () => new PorticoError('not_found', 'No such tool is known of this server');
const changedMeanwhile = () =>
  new PorticoError(
    'precondition_failed',
    'It is now held with another definition, or no longer held',
  );
const misleading = () =>
  new PorticoError(
    'conflict',
    'A name is misleading: approve that tool alone, with accept_quarantined',
  );
