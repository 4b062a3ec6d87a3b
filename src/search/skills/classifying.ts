/**
 * Classifies one server's tools, in the server's monitor. It runs after a check cycle, never during one, so that no request and no
 * discovery waits for it. New and changed tools of the current catalog are classified slice by slice, and each slice is written at once.
 * The object remembers what was done, so that a cycle without changes reads nothing from the database. After an interruption the next cycle
 * continues where it stopped.
 *
 * Invariants: one pass runs at a time; a stopped pass stores nothing more in the object; a failure leaves tools unclassified, with the
 * reason, and is retried later.
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
import type { Question, Classification } from './classifier.ts';
import { toContributions } from './contributions.ts';
import { replaceContributions } from './member-store.ts';
import type { Taxonomy } from './skill.ts';
import { loadTaxonomy } from './skill-store.ts';
import { toQuestions } from './skill-prompts.ts';
import { writeSuggestions } from './suggestion-store.ts';

/** The results of classifying some tools. */
export interface Judged {
  /** In the order of the questions; undefined where there is no answer. */
  classifications: readonly (Classification | undefined)[];
  /** Statements to write in the same batch. */
  statements?: readonly D1PreparedStatement[];
  /** Why some have no answer, the least time before a retry, in milliseconds, and whether the model did answer, but not about them. */
  failure?: { reason: string; retryAfterMs: number; isAnswered: boolean } | undefined;
}

/** A method of classification: the embedded classifier, or a model. */
export interface Way {
  /** Changes whenever its answers could change. */
  readonly id: string;
  /** Recorded as the source of its results. */
  readonly source: 'embedded' | 'llm';
  /** Most tools per slice. */
  readonly slice: number;
  begin(taxonomy: Taxonomy): Promise<Judge>;
}
/** @param renewed names of the tools to be classified again, ignoring earlier answers */
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
  /** Schedules a check cycle at a time. */
  wake(at: number): Promise<void>;
}

const KEY = 'classified';
/** Stored in `made_for` for a tool without an answer, so that it is classified again. */
const FAILED = 'failed';
/** How often a model is soon asked again about tools that its answers leave out: with the pauses between, some five hours. */
const MAX_SOON = 12;
/** Pause after that, in milliseconds. */
const SELDOM_MS = 86_400_000;

/** The inputs and the outcome of the last pass. */
const DoneSchema = z.object({
  basis: z.string(),
  skillsRevision: z.number(),
  contributions: z.string(),
  /** How many passes in a row ended with something left to ask; counted anew after a change, or when a tool got an answer. */
  failures: z.number(),
  /** In how many of them the model did answer, but left tools out. */
  gaps: z.number().default(0),
  retryAt: z.number().nullable(),
});
type Done = z.infer<typeof DoneSchema>;

const NONE: Pick<Done, 'gaps' | 'failures'> = { gaps: 0, failures: 0 };

export class Classifying {
  readonly #ports: ClassifyingPorts;
  #isRunning = false;
  /** How often it was stopped. */
  #stops = 0;

  constructor(ports: ClassifyingPorts) {
    this.#ports = ports;
  }

  /** Runs after a check cycle: classifies new and changed tools. Never throws; failed work is retried. */
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
      // The database or a static file failed; the next cycle tries again.
    } finally {
      this.#isRunning = false;
    }
  }

  /** Called when the server is disconnected or deleted. */
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
    const basis = basisOf(server, taxonomy.revision, way);
    const isAgain = done?.basis === basis && done.skillsRevision === server.skillsRevision;
    const before = isAgain ? done : NONE;
    const open = questions.filter(question =>
      isWanted(known.get(question.name), question, madeFor),
    );
    // Another slice comes first after each pass in vain: the one before may never get an answer.
    const wanted = turned(open, before.gaps * way.slice);
    const judge = wanted.length > 0 ? await way.begin(taxonomy) : undefined;
    const renewed = new Set(rows.filter(row => row.madeFor === '').map(({ tool }) => tool));
    let revision: number | undefined = server.skillsRevision;
    let failure: Judged['failure'];
    let hasGaps = false;
    let hasAnswers = false;
    for (let from = 0; from < wanted.length; from += way.slice) {
      if (!judge || failure || isStopped()) break;
      const slice = wanted.slice(from, from + way.slice);
      const judged = await judge(server.id, slice, renewed);
      failure = judged.failure;
      hasGaps ||= slice.some((_, i) => !judged.classifications[i]);
      hasAnswers ||= slice.some((_, i) => judged.classifications[i]);
      // After a failure no further slice is classified; all remaining tools get the same reason.
      const decided = failure ? wanted.slice(from) : slice;
      const assignments = decided.flatMap((question, i) =>
        toAssignment(question, judged.classifications[i], known.get(question.name), {
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
    const isGap = failure ? failure.isAnswered : hasGaps;
    const inVain = hasAnswers ? NONE : before;
    const gaps = inVain.gaps + (isGap ? 1 : 0);
    const failures = failure || isGap ? inVain.failures + 1 : 0;
    const soonMs = toPutOffMs(failures, failure?.retryAfterMs ?? 0);
    const waitMs = isGap && gaps >= MAX_SOON ? SELDOM_MS : soonMs;
    return { ...last, basis, failures, gaps, retryAt: failures > 0 ? Date.now() + waitMs : null };
  }

  /**
   * Deletes tools that are gone, with what was suggested for them, and writes the server's contributions to the skill vectors where they
   * changed.
   */
  async #finish(
    server: Server,
    questions: readonly Question[],
    known: ReadonlyMap<string, Assignment>,
    done: Done | undefined,
    before: number | undefined,
  ): Promise<Pick<Done, 'skillsRevision' | 'contributions'>> {
    const { db, embedding } = this.#ports;
    const names = new Set(questions.map(({ name }) => name));
    const gone = [...known.values()].flatMap(({ tool, source }) =>
      names.has(tool) || source === 'hand' ? [] : [tool],
    );
    const parts = toContributions(questions, known, await embedding());
    const digest = await sha256Hex(
      JSON.stringify(parts.map(({ skillId, all, byHand }) => [skillId, all, byHand].map(toPlain))),
    );
    const isSame = digest === done?.contributions;
    const statements = [
      ...(gone.length > 0
        ? [
            forgetAssignments(db, server.id, gone),
            ...writeSuggestions(db, server.id, gone, [], Date.now()),
          ]
        : []),
      ...(isSame ? [] : replaceContributions(db, server.id, parts, Date.now())),
    ];
    const revision =
      statements.length > 0 ? await this.#write(server.id, before, statements) : before;
    // After a concurrent write, -1 makes the next cycle check again.
    return { skillsRevision: revision ?? -1, contributions: digest };
  }

  /** @returns the revision after the write; undefined where another write came in between, or the server no longer exists */
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

/** Returns the items from one on, and then those before it. */
function turned<T>(items: readonly T[], by: number): T[] {
  const first = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Tells whether a tool has to be classified; one corrected by hand never has. */
function isWanted(
  row: Assignment | undefined,
  { fingerprint }: Question,
  madeFor: string,
): boolean {
  if (!row) return true;
  if (row.source === 'hand') return false;
  return row.fingerprint !== fingerprint || row.madeFor !== madeFor;
}

/** Returns the row for a verdict. Without one, an earlier result for the same definition stays (no row); else the row states the reason. */
function toAssignment(
  { name: tool, fingerprint }: Question,
  classification: Classification | undefined,
  before: Assignment | undefined,
  { source, madeFor, failure }: Pick<Assignment, 'source' | 'madeFor'> & Pick<Judged, 'failure'>,
): Assignment[] {
  if (classification) {
    const { skills, reason } = classification;
    return [
      { tool, fingerprint, skills, reason, source: skills.length > 0 ? source : 'none', madeFor },
    ];
  }
  if (before?.fingerprint === fingerprint && before.skills.length > 0) return [];
  const reason = failure?.reason ?? 'The model gave no answer for it';
  // A tool that is to be classified without its earlier answer still is.
  const open = before?.madeFor === '' ? '' : FAILED;
  return [{ tool, fingerprint, skills: [], reason, source: 'none', madeFor: open }];
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
