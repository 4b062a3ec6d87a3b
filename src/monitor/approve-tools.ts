/**
 * Decides which discovered definitions a server's monitor may publish: judges them by the approvals, writes the changed approvals, and
 * removes what is held. If neither the definitions nor the approvals nor the mode changed, it writes nothing and reads only its own digest.
 *
 * Invariants: the approvals are written before the catalog is stored; a write applies only to the approvals that were read, otherwise they
 * are read again; a discovery of another generation than the row's, or without the list of tools, is judged, but its judgement is neither
 * written nor remembered.
 */
import type { DiscoveryResult } from '../upstream/discovery/discover.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { sha256Hex } from '../shared/crypto/base64url.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { toDefinitions, toInstructions, type Definition } from '../servers/approvals/definition.ts';
import { findCopied } from '../servers/approvals/copied-names.ts';
import { judge, type Judgement } from '../servers/approvals/judge.ts';
import type { ExpectEvents } from '../webhooks/expect-events.ts';
import { MAX_TEXT_CHARS, type ToolApproval } from '../servers/registry/approval.ts';
import {
  claimApprovals,
  findNeighbours,
  loadApprovals,
  writeApprovals,
  type KnownApprovals,
} from '../servers/approvals/approval-store.ts';

const JUDGED_KEY = 'judged';
/** Stamp of the approvals that were applied to the last catalog. */
const DECIDED_KEY = 'decided';
/** Raised when the judgement itself changes, so that everything is judged again. */
const JUDGE_VERSION = 2;
/** Maximum number of attempts, since administrators may decide during a judgement. */
const MAX_TRIES = 20;

/** The last judgement and its inputs. */
interface Judged {
  digest: string;
  stamp: string | null;
  toolApproval: ToolApproval;
  /** Indexes of the tools that were left out, in the server's order. */
  leftOut: number[];
  leavesInstructions: boolean;
}

export interface ToolApproverOptions {
  storage: DurableObjectStorage;
  db: D1Database;
  /** Default tool-approval mode for servers that set none. */
  toolApproval: ToolApproval;
  expectEvents: ExpectEvents;
}

export class ToolApprover {
  readonly #options: ToolApproverOptions;

  constructor(options: ToolApproverOptions) {
    this.#options = options;
  }

  /** Returns the discovery without what is held. */
  async admit(server: Server, discovery: DiscoveryResult): Promise<DiscoveryResult> {
    const { storage } = this.#options;
    const toolApproval = server.toolApproval ?? this.#options.toolApproval;
    const digest = await digestOf(discovery);
    const last = await storage.get<Judged>(JUDGED_KEY);
    const isKnown =
      last?.digest === digest &&
      last.toolApproval === toolApproval &&
      last.stamp === server.approvalsStamp;
    if (isKnown) return leaveOut(discovery, last);
    const tools = await toDefinitions(server.id, discovery.items.tools);
    const { instructions } = discovery;
    const own = instructions === undefined ? [] : [await toInstructions(server.id, instructions)];
    const definitions = [...tools.filter(tool => tool !== undefined), ...own];
    // If the list of tools could not be read, its new and removed tools are unknown.
    const isPartial = discovery.failed.some(({ kind }) => kind === 'tools');
    const { judgement, stamp } = await this.#judge(server, definitions, toolApproval, isPartial);
    const isAdmitted = (definition: Definition | undefined) =>
      definition ? judgement.admitted.has(definition.id) : toolApproval === 'trust';
    const judged: Judged = {
      digest,
      stamp: stamp ?? null,
      toolApproval,
      leftOut: tools.flatMap((tool, index) => (isAdmitted(tool) ? [] : [index])),
      leavesInstructions: own.some(definition => !isAdmitted(definition)),
    };
    if (stamp !== undefined) await storage.put(JUDGED_KEY, judged);
    return leaveOut(discovery, judged);
  }

  /** Whether the approvals changed since the last judgement, and the last catalog does not show that yet. */
  async isDecided({ approvalsStamp: stamp }: Server): Promise<boolean> {
    if (stamp === null) return false;
    const { storage } = this.#options;
    if ((await storage.get<Judged>(JUDGED_KEY))?.stamp === stamp) return false;
    return (await storage.get(DECIDED_KEY)) !== stamp;
  }

  /** The last catalog shows these approvals. */
  async noteDecided({ approvalsStamp }: Server): Promise<void> {
    await this.#options.storage.put(DECIDED_KEY, approvalsStamp);
  }

  /** @returns the judgement and its stamp; without a stamp the judgement must not be remembered */
  async #judge(
    server: Server,
    definitions: readonly Definition[],
    toolApproval: ToolApproval,
    isPartial: boolean,
  ): Promise<{ judgement: Judgement; stamp?: string }> {
    const { db } = this.#options;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = await loadApprovals(db, server.id);
      const isCurrent = known?.generation === server.generation;
      const { approvals, stamp }: Pick<KnownApprovals, 'approvals' | 'stamp'> = known ?? {
        approvals: [],
        stamp: '',
      };
      const unapproved = unapprovedTools(definitions, approvals);
      const skeletons = [...new Set(unapproved.map(({ skeleton }) => skeleton))];
      const neighbours = await findNeighbours(db, server.id, skeletons);
      const copied = await findCopied(db, server.id, unapproved);
      const isFirst = stamp === null;
      const judgement = judge({
        serverId: server.id,
        definitions,
        approvals,
        neighbours,
        copied,
        toolApproval,
        isFirst,
      });
      if (!isCurrent || isPartial) return { judgement };
      const { changes, forgotten, heldTools } = judgement;
      const isNothingNew = changes.length === 0 && forgotten.length === 0;
      if (isNothingNew && stamp !== null) return { judgement, stamp };
      const claim = {
        serverId: server.id,
        generation: server.generation,
        stamp,
        nextStamp: crypto.randomUUID(),
        skeletons,
        neighbours: neighbours.length,
        heldTools,
      };
      const kept = changes.map(change => ({
        ...change,
        approvedText: keptText(change.approvedText),
        heldText: keptText(change.heldText),
      }));
      if (kept.some(({ heldFingerprint }) => heldFingerprint !== null))
        await this.#options.expectEvents();
      const [claimed] = await db.batch([
        claimApprovals(db, claim),
        ...writeApprovals(db, claim, kept, forgotten, Date.now()),
      ]);
      if (claimed?.meta.changes !== 0) return { judgement, stamp: claim.nextStamp };
    }
    throw new PorticoError(
      'busy',
      'Somebody is deciding on its tools; they are evaluated again soon',
    );
  }
}

const keptText = (text: string | null): string | null =>
  text === null || text.length > MAX_TEXT_CHARS ? null : text;

/** The tools to compare with approved tools of other servers. */
function unapprovedTools(
  definitions: readonly Definition[],
  approvals: KnownApprovals['approvals'],
): Definition[] {
  const approved = new Set(
    approvals.flatMap(({ id, approvedFingerprint }) => (approvedFingerprint === null ? [] : [id])),
  );
  return definitions.filter(({ id, kind }) => kind === 'tool' && !approved.has(id));
}

/** Digest of everything that approvals cover. */
function digestOf({ items, instructions }: DiscoveryResult): Promise<string> {
  return sha256Hex(
    `${JUDGE_VERSION} ${JSON.stringify(instructions ?? null)}\n${items.tools.join('\n')}`,
  );
}

function leaveOut(
  discovery: DiscoveryResult,
  { leftOut, leavesInstructions }: Judged,
): DiscoveryResult {
  if (leftOut.length === 0 && !leavesInstructions) return discovery;
  const held = new Set(leftOut);
  const tools = discovery.items.tools.filter((_, index) => !held.has(index));
  return {
    ...discovery,
    items: { ...discovery.items, tools },
    instructions: leavesInstructions ? undefined : discovery.instructions,
  };
}
