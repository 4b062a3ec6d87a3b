/**
 * Checks the subjects of all commits since this file was added: `area: what it does`, in the imperative, at most 72 characters, so that the
 * log can be searched for a changelog. Used by `.ci/run`; in a folder without a history there is nothing to check.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MOST_CHARS = 72;
/** First words that cannot be an imperative: articles, pronouns, question words, and verb forms in -ing or -ed. */
const NO_ORDER =
  /^(a|an|the|this|that|it|its|what|who|how|where|when|why|no|not|one|each|every|all|some|there|[a-z]+ing|[a-z]+ed)$/;
/** Verbs whose base form ends in -ing or -ed. */
const VERBS = new Set([
  'bring',
  'ring',
  'string',
  'feed',
  'need',
  'seed',
  'embed',
  'speed',
  'shed',
  'exceed',
  'proceed',
]);

/** Returns what is wrong with a subject, or undefined. */
export function checkSubject(subject: string): string | undefined {
  if (subject.length > MOST_CHARS) return `has ${subject.length} characters, ${MOST_CHARS} at most`;
  const [, word] = /^[a-z0-9][a-z0-9 -]*: (\S+)/.exec(subject) ?? [];
  if (word === undefined) return 'is not "area: what it does"';
  if (/[.!]$/.test(subject)) return 'ends with a full stop';
  if (/[A-Z]/.test(word[0] ?? '')) return 'begins with a capital after the area';
  if (NO_ORDER.test(word) && !VERBS.has(word))
    return `does not say what to do: "${word}" is no order`;
  return undefined;
}

const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout.trim();

function main(): void {
  const [first] = git('log', '--diff-filter=A', '--format=%H', '--', 'local/subjects.ts')
    .split('\n')
    .slice(-1);
  if (!first) return;
  const lines = git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`)
    .split('\n')
    .filter(Boolean);
  const wrong = lines.flatMap(line => {
    const [hash = '', ...rest] = line.split(' ');
    const fault = checkSubject(rest.join(' '));
    return fault ? [`${hash} "${rest.join(' ')}" ${fault}`] : [];
  });
  for (const line of wrong) process.stderr.write(`${line}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
