/**
 * Classification by a language model: questions with a stored answer are not asked again, the others are asked in batches, several at once.
 * There is no fallback for a missing answer: the tool stays unclassified, states the reason, and is asked about later.
 */
import { ModelFailure, type Model } from '../../models/model-port.ts';
import { findAnswers, keepAnswers } from './answer-store.ts';
import type { Question, Classification } from './classifier.ts';
import type { Way } from './classifying.ts';
import {
  classifyByModel,
  BATCH_TOOLS,
  KeptSchema,
  PROMPT_VERSION,
  questionKey,
} from './llm-classifier.ts';
import { toSkillId, type Taxonomy } from './skill.ts';
import { writeSuggestions } from './suggestion-store.ts';
import { toAssigned } from '../../servers/registry/tool-skills.ts';

const BATCHES_AT_ONCE = 4;
/** Timeout of one batch, in milliseconds. */
const BATCH_MS = 50_000;

export function createLlmWay(db: D1Database, model: Model): Way {
  return {
    id: `llm:${model.name}:${PROMPT_VERSION}`,
    source: 'llm',
    slice: BATCH_TOOLS * BATCHES_AT_ONCE,
    async begin(taxonomy) {
      return async (serverId, questions, renewed) => {
        const keys = await Promise.all(
          questions.map(question => questionKey(question, taxonomy, model.name)),
        );
        const kept = await findAnswers(
          db,
          keys.filter((_, i) => !renewed.has(questions[i]?.name ?? '')),
        );
        const classifications = keys.map(key => toClassification(kept.get(key), taxonomy));
        const open = questions.flatMap((question, i) =>
          classifications[i] ? [] : [{ question, i }],
        );
        const batches = toBatches(open);
        const answers = await Promise.allSettled(
          batches.map(batch =>
            classifyByModel(
              model,
              taxonomy,
              batch.map(({ question }) => question),
              AbortSignal.timeout(BATCH_MS),
            ),
          ),
        );
        const fresh: [string, unknown][] = [];
        answers.forEach((answer, b) => {
          if (answer.status !== 'fulfilled') return;
          batches[b]?.forEach(({ i }, place) => {
            const classification = answer.value[place];
            classifications[i] = classification;
            if (classification) fresh.push([keys[i] ?? '', toKept(classification)]);
          });
        });
        const now = Date.now();
        const statements = [
          ...keepAnswers(db, fresh, now),
          ...toSuggestions(db, serverId, questions, classifications, now),
        ];
        return { classifications, statements, failure: toFailure(answers) };
      };
    },
  };
}

interface Open {
  question: Question;
  i: number;
}

function toBatches(open: readonly Open[]): Open[][] {
  const batches: Open[][] = [];
  for (let from = 0; from < open.length; from += BATCH_TOOLS) {
    batches.push(open.slice(from, from + BATCH_TOOLS));
  }
  return batches;
}

const toKept = ({ skills, suggestion }: Classification) => ({
  skills,
  ...(suggestion ? { suggestion } : {}),
});

/** Converts a stored answer, dropping skills that no longer exist. */
function toClassification(answer: unknown, taxonomy: Taxonomy): Classification | undefined {
  const kept = KeptSchema.safeParse(answer).data;
  if (!kept) return undefined;
  const known = new Set(taxonomy.skills.map(({ id }) => id));
  const skills = toAssigned(kept.skills.filter(({ id }) => known.has(id)));
  const { suggestion } = kept;
  return {
    skills,
    reason: skills.length > 0 ? null : 'The model found no skill that fits',
    suggestion,
  };
}

function toSuggestions(
  db: D1Database,
  serverId: string,
  questions: readonly Question[],
  classifications: readonly (Classification | undefined)[],
  now: number,
): D1PreparedStatement[] {
  const judged = questions.flatMap(({ name }, i) => (classifications[i] ? [name] : []));
  const suggestions = questions.flatMap(({ name: tool }, i) => {
    const suggestion = classifications[i]?.suggestion;
    const id = suggestion && toSkillId(suggestion.name);
    return suggestion && id !== undefined ? [{ id, ...suggestion, tool }] : [];
  });
  return judged.length === 0 ? [] : writeSuggestions(db, serverId, judged, suggestions, now);
}

/** Returns why some have no answer, with the longest wait that any failure asked for. */
function toFailure(answers: readonly PromiseSettledResult<unknown>[]) {
  const failures = answers.flatMap(answer => {
    if (answer.status === 'fulfilled') return [];
    const { reason } = answer;
    return [reason instanceof ModelFailure ? reason : new ModelFailure('unavailable')];
  });
  const [first] = failures;
  if (!first) return undefined;
  const retryAfterMs = Math.max(...failures.map(failure => failure.retryAfterMs ?? 0));
  const isAnswered = failures.every(({ problem }) => problem === 'nonsense');
  return { reason: first.message, retryAfterMs, isAnswered };
}
