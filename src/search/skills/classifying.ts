/**
 * Classification of one server's tools, in its monitor: after a round, never in it, so that neither a request nor a discovery waits. What is
 * new or changed in the catalog that the row names is classified, slice by slice, each written when it is there; what was done is remembered,
 * so that a quiet round reads nothing. Whatever ends it in between, the next round goes on where it was.
 *
 * Invariants: one pass runs at a time; a pass that was stopped stores nothing more in the object; a failure leaves tools as
 * not classified, with the reason, and is tried again later.
 */
import { z } from 'zod';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { toPutOffMs } from '../../shared/util/backoff.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { isOffered } from '../../servers/registry/status.ts';
import type { Embedding } from '../text/embedding.ts';
import {
  forgetAssignments,
  listAssignments,
  parseTouched,
  touchServerSkills,
  writeAssignments,
  type Assignment,
} from './assignment-store.ts';
import type { Question, Verdict } from './classifier.ts';
import { toContributions } from './contributions.ts';
import { replaceContributions } from './member-store.ts';
import type { Taxonomy } from './skill.ts';
import { loadTaxonomy } from './skill-store.ts';
import { toQuestions } from './skill-prompts.ts';

/** What a way to classify says of some tools. */
export interface Judged {
  /** In the order of the questions; undefined where there is no answer. */
  verdicts: readonly (Verdict | undefined)[];
  /** What has to be written beside them. */
  statements?: readonly D1PreparedStatement[];
  /** Why there is no answer for some, and how long to wait at least before they are asked about again, in milliseconds. */
  failure?: { reason: string; retryAfterMs: number } | undefined;
}

/** A way to classify: the embedded one, or a model. */
export interface Way {
  /** Another one where its answers would be others. */
  readonly id: string;
  /** Who says so. */
  readonly source: 'embedded' | 'llm';
  /** Most tools of a slice. */
  readonly slice: number;
  begin(taxonomy: Taxonomy): Promise<Judge>;
}
/** @param renewed names of those that are to be judged anew, whatever was said of them before */
export type Judge = (
  serverId: string,
  questions: readonly Question[],
  renewed: ReadonlySet<string>,
) => Promise<Judged>;

export interface ClassifyingPorts {
  db: D1Database;
  storage: DurableObjectStorage;
  way: Way;
  embedding(): Promise<Embedding>;
  findCatalog(serverId: string, hash: string): Promise<string | undefined>;
  /** Have a round run at a time. */
  wake(at: number): Promise<void>;
}

const KEY = 'classified';
/** What a row was made for that is no answer: it is asked about again. */
const FAILED = 'failed';

/** What the last pass was made of. */
const DoneSchema = z.object({
  basis: z.string(),
  skillsRevision: z.number(),
  contributions: z.string(),
  failures: z.number(),
  retryAt: z.number().nullable(),
});
type Done = z.infer<typeof DoneSchema>;

export class Classifying {
  readonly #ports: ClassifyingPorts;
  #isRunning = false;
  /** Counts how often it was stopped. */
  #stops = 0;

  constructor(ports: ClassifyingPorts) {
    this.#ports = ports;
  }

  /** A round is over: classify what there is to classify, if there is. Never throws: a failure is tried again. */
  async follow(server: Server): Promise<void> {
    const { catalogHash, status } = server;
    if (this.#isRunning || catalogHash === null || !isOffered(status)) return;
    this.#isRunning = true;
    const stops = this.#stops;
    const isStopped = () => stops !== this.#stops;
    try {
      const done = DoneSchema.safeParse(await this.#ports.storage.get(KEY)).data;
      if (isCurrent(done, server, this.#ports.way)) return;
      const next = await this.#pass(server, catalogHash, done, isStopped);
      if (!next || isStopped()) return;
      await this.#ports.storage.put(KEY, next);
      if (next.retryAt !== null) await this.#ports.wake(next.retryAt);
    } catch {
      // The database or a static file failed: the next round tries again.
    } finally {
      this.#isRunning = false;
    }
  }

  /** The server is disconnected or deleted. */
  stop(): void {
    this.#stops += 1;
  }

  async #pass(
    server: Server,
    catalogHash: string,
    done: Done | undefined,
    isStopped: () => boolean,
  ): Promise<Done | undefined> {
    const { db, way, findCatalog } = this.#ports;
    const text = await findCatalog(server.id, catalogHash);
    if (text === undefined) return undefined;
    const [questions, taxonomy, rows] = await Promise.all([
      toQuestions(server, text),
      loadTaxonomy(db),
      listAssignments(db, server.id),
    ]);
    const known = new Map(rows.map(row => [row.tool, row]));
    const madeFor = `${taxonomy.revision} ${way.id}`;
    const wanted = questions.filter(question =>
      isWanted(known.get(question.name), question, madeFor),
    );
    const judge = wanted.length > 0 ? await way.begin(taxonomy) : undefined;
    const renewed = new Set(rows.filter(row => row.madeFor === '').map(({ tool }) => tool));
    let revision: number | undefined = server.skillsRevision;
    let failure: Judged['failure'];
    for (let from = 0; from < wanted.length; from += way.slice) {
      if (!judge || failure || isStopped()) break;
      const slice = wanted.slice(from, from + way.slice);
      const judged = await judge(server.id, slice, renewed);
      failure = judged.failure;
      // After a failure nothing more is asked, and what is left has the same reason.
      const told = failure ? wanted.slice(from) : slice;
      const assignments = told.flatMap((question, i) =>
        toAssignment(question, judged.verdicts[i], known.get(question.name), {
          source: way.source,
          madeFor,
          failure,
        }),
      );
      for (const row of assignments) known.set(row.tool, row);
      revision = await this.#write(server.id, revision, [
        ...writeAssignments(db, server.id, assignments, Date.now()),
        ...(judged.statements ?? []),
      ]);
    }
    if (isStopped()) return undefined;
    const last = await this.#finish(server, questions, known, done, revision);
    const failures = failure ? (done?.failures ?? 0) + 1 : 0;
    const retryAt = failure ? Date.now() + toPutOffMs(failures, failure.retryAfterMs) : null;
    return { ...last, basis: basisOf(server, taxonomy.revision, way), failures, retryAt };
  }

  /** Forget what is gone, and write what the server's tools add to the skills, where that is another now. */
  async #finish(
    server: Server,
    questions: readonly Question[],
    known: ReadonlyMap<string, Assignment>,
    done: Done | undefined,
    before: number | undefined,
  ): Promise<Pick<Done, 'skillsRevision' | 'contributions'>> {
    const { db, embedding } = this.#ports;
    const names = new Set(questions.map(({ name }) => name));
    const gone = [...known.values()].filter(
      ({ tool, source }) => !names.has(tool) && source !== 'hand',
    );
    const parts = toContributions(questions, known, await embedding());
    const digest = await sha256Hex(
      JSON.stringify(parts.map(({ skillId, all, byHand }) => [skillId, all, byHand].map(toPlain))),
    );
    const isSame = digest === done?.contributions;
    const statements = [
      ...(gone.length > 0
        ? [
            forgetAssignments(
              db,
              server.id,
              gone.map(({ tool }) => tool),
            ),
          ]
        : []),
      ...(isSame ? [] : replaceContributions(db, server.id, parts, Date.now())),
    ];
    const revision =
      statements.length > 0 ? await this.#write(server.id, before, statements) : before;
    // Where somebody else wrote in between, the next round looks again.
    return { skillsRevision: revision ?? -1, contributions: digest };
  }

  /** @returns the revision after it; undefined where another write came in between, or the server is gone */
  async #write(
    serverId: string,
    before: number | undefined,
    statements: readonly D1PreparedStatement[],
  ): Promise<number | undefined> {
    const { db } = this.#ports;
    const results = await db.batch([...statements, touchServerSkills(db, serverId)]);
    const after = parseTouched(results.at(-1)?.results ?? []);
    return before !== undefined && after === before + 1 ? after : undefined;
  }
}

/** Whether a tool has to be classified; what was corrected by hand never has. */
function isWanted(
  row: Assignment | undefined,
  { fingerprint }: Question,
  madeFor: string,
): boolean {
  if (!row) return true;
  if (row.source === 'hand') return false;
  return row.fingerprint !== fingerprint || row.madeFor !== madeFor;
}

/** The row that a verdict makes, or its absence: what was said of the same definition before still stands then. */
function toAssignment(
  { name: tool, fingerprint }: Question,
  verdict: Verdict | undefined,
  before: Assignment | undefined,
  { source, madeFor, failure }: Pick<Assignment, 'source' | 'madeFor'> & Pick<Judged, 'failure'>,
): Assignment[] {
  if (verdict) {
    const { skills, reason } = verdict;
    return [
      { tool, fingerprint, skills, reason, source: skills.length > 0 ? source : 'none', madeFor },
    ];
  }
  if (before?.fingerprint === fingerprint && before.skills.length > 0) return [];
  const reason = failure?.reason ?? 'There was no answer for it';
  return [{ tool, fingerprint, skills: [], reason, source: 'none', madeFor: FAILED }];
}

const basisOf = ({ catalogHash }: Server, taxonomyRevision: number, way: Way): string =>
  `${catalogHash} ${taxonomyRevision} ${way.id}`;

function isCurrent(done: Done | undefined, server: Server, way: Way): boolean {
  if (!done || done.basis !== basisOf(server, server.taxonomyRevision, way)) return false;
  return done.skillsRevision === server.skillsRevision && Date.now() < (done.retryAt ?? Infinity);
}

const toPlain = (part: unknown): unknown =>
  typeof part === 'string'
    ? part
    : Object.values(part as object).map(value =>
        typeof value === 'number' ? value : [...(value as Float32Array)],
      );
