/**
 * The effect of learning from use: requests are searched, a number of principals call the right tool if it is among the first ten, and
 * another principal repeats the requests. Also what principals gain who call a wrong tool on purpose. All on one day.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import { toLift, toSupport, type Use } from '../../src/search/learning/lift.ts';
import { toLearnedWords } from '../../src/search/learning/words.ts';
import { rank, type Ranked } from '../../src/search/rank/rank.ts';
import { TUNING } from '../../src/search/rank/tuning.ts';
import { isTuned, toSearched, type Corpus, type Request } from './corpus.ts';
import { toMeans, toMeasures } from './measures.ts';
import { toTable } from './text-table.ts';

const SHOWN = 10;
const READER = 'reader';

/** Uses by word and tool. */
type Uses = Map<string, Map<string, Use[]>>;

function createAsker(corpus: Corpus, embedding: Embedding) {
  const searched = corpus.servers.map(server => toSearched(server, embedding));
  const idOf = ({ searched: at, tool }: Pick<Ranked, 'searched' | 'tool'>) =>
    corpus.servers[at]?.tools[tool]?.id ?? '';
  return (query: string, uses: Uses = new Map()): { id: string; score: number }[] => {
    const words = toLearnedWords(query);
    const lift = (at: number, tool: number) => {
      const id = idOf({ searched: at, tool });
      return toLift(words.map(word => toSupport(uses.get(word)?.get(id) ?? [], READER, 0)));
    };
    const found = rank(query, searched, embedding, SHOWN, TUNING, undefined, lift);
    return found.map(one => ({ id: idOf(one), score: one.score }));
  };
}

function use(uses: Uses, query: string, tool: string, principals: readonly string[]): void {
  for (const word of toLearnedWords(query)) {
    const tools = uses.get(word) ?? new Map<string, Use[]>();
    uses.set(word, tools);
    const known = tools.get(tool) ?? [];
    // Each principal counts once per word and tool.
    const before = new Set(known.map(({ principalId }) => principalId));
    const fresh = principals.filter(principalId => !before.has(principalId));
    tools.set(tool, [...known, ...fresh.map(principalId => ({ principalId, day: 0 }))]);
  }
}

const others = (count: number): string[] => Array.from({ length: count }, (_, n) => `other ${n}`);

/** How the same requests, and others, are answered after use. */
export function measureLearning(name: string, corpus: Corpus, embedding: Embedding): string {
  const ask = createAsker(corpus, embedding);
  const learned = corpus.requests.filter(({ query }) => isTuned(query));
  const rest = corpus.requests.filter(({ query }) => !isTuned(query));
  const measure = (requests: readonly Request[], uses: Uses): string[] => {
    const means = toMeans(
      requests.map(({ query, relevant }) =>
        toMeasures(
          ask(query, uses).map(({ id }) => id),
          relevant,
        ),
      ),
    );
    return [means.recall1, means.ndcg10, means.mrr].map(mean => mean.toFixed(3));
  };
  const rows = [[], [READER], others(2), others(3), others(10), [READER, ...others(10)]].map(
    principals => {
      const uses: Uses = new Map();
      for (const { query, relevant } of learned) {
        const right = ask(query).filter(({ id }) => relevant.has(id));
        for (const { id } of right) use(uses, query, id, principals);
      }
      return [
        principals.map(each => each.replace(/ .*/, '')).join(', ') || 'nobody',
        ...measure(learned, uses),
        ...measure(rest, uses),
      ];
    },
  );
  const half = ['recall@1', 'nDCG@10', 'MRR'];
  const named = rows.map(([who = '', ...cells]) => [toCounted(who), ...cells]);
  return toTable(
    [`${name}, learning: used by`, ...half, ...half.map(one => `not used: ${one}`)],
    named,
  );
}

/** Writes `reader, other, other` as `the reader and 2 others`. */
function toCounted(who: string): string {
  const count = who.split(', ').filter(each => each === 'other').length;
  const reader = who.includes(READER) ? ['the reader'] : [];
  const many = count > 0 ? [`${count} others`] : [];
  return [...reader, ...many].join(' and ') || who;
}

/** What principals gain for a wrong tool among the first ten by calling it after each request. */
export function measurePoisoning(name: string, corpus: Corpus, embedding: Embedding): string {
  const ask = createAsker(corpus, embedding);
  const rows = [1, 2, 3, 10, 1_000].map(count => {
    let [moved, first, most] = [0, 0, 0];
    for (const { query, relevant } of corpus.requests) {
      const before = ask(query);
      const wrong = before.slice(1).find(({ id }) => !relevant.has(id));
      if (!wrong) continue;
      const uses: Uses = new Map();
      use(uses, query, wrong.id, others(count));
      const after = ask(query, uses);
      const isMoved = JSON.stringify(after) !== JSON.stringify(before);
      moved += Number(isMoved);
      first += Number(after[0]?.id === wrong.id);
      most = Math.max(most, (after.find(({ id }) => id === wrong.id)?.score ?? 0) - wrong.score);
    }
    const share = (of: number) => `${((100 * of) / corpus.requests.length).toFixed(1)} %`;
    return [String(count), share(moved), share(first), most.toFixed(3)];
  });
  return toTable(
    [`${name}, learning: who call a wrong one`, 'anything moved', 'it is first', 'most gained'],
    rows,
  );
}
