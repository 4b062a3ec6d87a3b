/**
 * Learning from use (docs/decisions/0068-learning-from-use.md): records which tool a principal called after which words, so that later
 * searches with these words reorder nearly equal results. Only where the deployment enables it.
 */
import type { Uses } from '../../gateway/steps/note-use.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { Lru } from '../../shared/util/lru.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import { GatheredUses } from './gathered-uses.ts';
import { LearnedUses, toolId } from './learned-uses.ts';
import { addUses, listUses } from './learning-store.ts';
import { RecentSearches } from './recent-searches.ts';
import { toLearnedWords } from './words.ts';

export interface LearningPorts {
  db: D1Database;
  keys: Pick<KeyRing, 'digest'>;
  /** How long uses are gathered before they are written, in milliseconds. */
  gatherMs: number;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

export interface Learning {
  uses: Uses;
  learned: LearnedUses;
  /** Drops what this isolate knows of the stored uses, after they were deleted. */
  forget(): void;
}

/** How many digests are cached. */
const MAX_DIGESTS = 2_000;
/** Length of a word's digest, in characters of base64url: 96 bits. */
const DIGEST_CHARS = 16;

/** Builds an isolate's recorder of uses and its copy of what was learned. */
export function createLearning({ db, keys, gatherMs, wait, now }: LearningPorts): Learning {
  const digest = createDigest(keys);
  const recent = new RecentSearches();
  const gathered = new GatheredUses({
    write: (uses, today) =>
      onEitherSchema(async age => {
        if (age === 'this') await db.batch(addUses(db, uses, today));
      }),
    digest,
    gatherMs,
    wait,
    now,
  });
  const list = (today: number) =>
    onEitherSchema(async age => (age === 'this' ? listUses(db, today) : []));
  const learned = new LearnedUses({ list, digest, wait, now });
  return {
    learned,
    forget() {
      learned.forget();
      gathered.forget();
    },
    uses: {
      searched(principalId, query, hits) {
        const tools = hits.map(({ server, item }) => toolId(server.id, item.key));
        recent.add(principalId, toLearnedWords(query), tools, now());
      },
      called(principalId, tool, waitUntil) {
        const words = recent.take(principalId, toolId(tool.server.id, tool.item.key), now());
        if (words) gathered.add(principalId, tool, words, waitUntil);
      },
    },
  };
}

/** Returns the digest of a word under the active key: `keyId.base64url`. */
function createDigest(keys: Pick<KeyRing, 'digest'>): (word: string) => Promise<string> {
  const known = new Lru<string, string>(MAX_DIGESTS);
  return async word => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const whole = await keys.digest('learning', word);
    const digest = whole.slice(0, whole.indexOf('.') + 1 + DIGEST_CHARS);
    known.set(word, digest);
    return digest;
  };
}
