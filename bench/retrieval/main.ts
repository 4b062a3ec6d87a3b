/**
 * `npm run bench:retrieval`: how well and how fast tools are found. Owns the run, its output (standard output and
 * `bench/results/retrieval.md`) and its exit code: 1 with one line if something is missing, 2 for wrong usage. No network, except for the
 * model of `--model` and the package of `--encoder`.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCorpus, readShippedEmbedding } from './corpus.ts';
import { measureHostile } from './hostile.ts';
import { measureLearning, measurePoisoning } from './learning.ts';
import { createEncoder } from './encoder.ts';
import { measureModel, measureModelSlices, measureModelSpeed } from './model.ts';
import { createEmbed, type Embed } from './model-source.ts';
import { measureMadeSlices } from './made-slices.ts';
import { measureQuality, measureScores } from './quality.ts';
import { measureSlices } from './slices.ts';
import { measureSpeed } from './speed.ts';
import { tune } from './tune.ts';

const CORPUS = fileURLToPath(new URL('../../../shared/corpora/retrieval', import.meta.url));
const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));
const EMBEDDING = fileURLToPath(new URL('../../pages/search/embedding.bin', import.meta.url));
const PARTS = ['quality', 'slices', 'made', 'scores', 'speed', 'hostile', 'learning'] as const;

const HELP = `npm run bench:retrieval [-- options]

How well requests find their tools, and what it costs. Prints tables and writes them to bench/results/retrieval.md.

  --corpus FOLDER  tools and requests (default ../shared/corpora/retrieval beside the project)
  --only PART      one of ${PARTS.join(', ')}
  --tune           in place of all that: look for better numbers of the ranking, for some minutes
  --model URL      in place of all that: what a model for vectors adds, at this OpenAI-compatible address with its
                   version, for example http://127.0.0.1:8000/v1; PORTICO_MODEL_KEY may hold its key
  --model-name M   how the model is called there (default default)
  --encoder        the same with a small sentence encoder in this process, installed when it is first asked for (270 MB)
  --help           this text
`;

function run(folder: string, only: string | undefined): string {
  const embedding = readShippedEmbedding();
  const corpora = ['gateway', 'metatool'].map(name => ({ name, corpus: readCorpus(folder, name) }));
  const gateway = corpora[0]?.corpus ?? { servers: [], requests: [] };
  const embeddingBytes = statSync(EMBEDDING).size;
  const parts: Record<(typeof PARTS)[number], () => string[]> = {
    quality: () => corpora.map(({ name, corpus }) => measureQuality(name, corpus, embedding)),
    slices: () => [measureSlices(gateway, embedding)],
    made: () => [measureMadeSlices('gateway', gateway, embedding)],
    scores: () => corpora.map(({ name, corpus }) => measureScores(name, corpus, embedding)),
    speed: () => [measureSpeed(folder, gateway.requests, embedding, embeddingBytes)],
    hostile: () => [measureHostile(gateway, embedding)],
    learning: () =>
      corpora.flatMap(({ name, corpus }) => [
        measureLearning(name, corpus, embedding),
        measurePoisoning(name, corpus, embedding),
      ]),
  };
  const wanted = PARTS.filter(part => only === undefined || part === only);
  const machine = `Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}.`;
  return [machine, ...wanted.flatMap(part => parts[part]())].join('\n\n');
}

async function compareModel(folder: string, embed: Embed): Promise<string> {
  const embedding = readShippedEmbedding();
  const gateway = readCorpus(folder, 'gateway');
  return [
    await measureModel('gateway', gateway, embedding, embed),
    await measureModel('metatool', readCorpus(folder, 'metatool'), embedding, embed),
    await measureModelSlices(gateway, embedding, embed),
    await measureModelSpeed(gateway, embedding, embed),
  ].join('\n\n');
}

/** Returns the model that the command line names, if it does. */
function findModel(
  url: string | undefined,
  name: string,
  encoder: boolean,
): Promise<Embed> | undefined {
  if (encoder) return createEncoder();
  const key = process.env['PORTICO_MODEL_KEY'];
  return url === undefined ? undefined : Promise.resolve(createEmbed({ url, name, key }));
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      corpus: { type: 'string', default: CORPUS },
      only: { type: 'string' },
      tune: { type: 'boolean', default: false },
      model: { type: 'string' },
      'model-name': { type: 'string', default: 'default' },
      encoder: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { corpus: folder, only } = values;
  if (values.help) return void process.stdout.write(HELP);
  if (only !== undefined && !PARTS.some(part => part === only)) {
    throw new TypeError(`--only must be one of ${PARTS.join(', ')}, not ${only}`);
  }
  if (values.tune) {
    const corpora = ['gateway', 'metatool'].map(name => readCorpus(folder, name));
    return tune(corpora, readShippedEmbedding(), line => void process.stdout.write(`${line}\n`));
  }
  const embed = await findModel(values.model, values['model-name'], values.encoder);
  if (embed) return void process.stdout.write(`${await compareModel(folder, embed)}\n`);
  const text = run(folder, only);
  mkdirSync(RESULTS, { recursive: true });
  if (only === undefined) writeFileSync(`${RESULTS}retrieval.md`, `${text}\n`);
  process.stdout.write(`${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof TypeError ? 2 : 1;
}
