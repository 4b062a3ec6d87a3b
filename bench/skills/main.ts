/**
 * `npm run bench:skills [-- --seed N]`: how good the embedded skill classifier is on servers it was not trained on, beside a TF-IDF
 * baseline. With `--write` it instead trains the classifier on everything and writes `pages/search/skills.bin`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readEmbedding } from '../../src/search/text/embedding.ts';
import { toWeightsFile } from '../../src/search/skills/weights.ts';
import { readLabelled } from './labels.ts';
import { measure } from './measure.ts';
import { readTaxonomy } from './taxonomy.ts';
import { tryAll } from './trials.ts';
import { prepare, VIEWS, type Material } from './prepare.ts';
import { trainWeights } from './weights.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const FILE = path('../../pages/search/skills.bin');
const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, seed: { type: 'string', default: '1' } },
});
const corpora = process.env['PORTICO_CORPORA'] ?? path('../../../shared/corpora');
const table = readFileSync(path('../../pages/search/embedding.bin'));
const embedding = readEmbedding(Uint8Array.from(table).buffer);
const taxonomy = readTaxonomy();
const samples = readLabelled(corpora, taxonomy);
const material: Material = { samples, taxonomy, embedding };

const COLUMNS = [
  'firstAtOne',
  'firstAtThree',
  'anyAtOne',
  'anyAtThree',
  'commonest',
  'classified',
  'ece',
  'primaries',
  'rightPrimaries',
] as const;
const HEADINGS = [
  'classifier',
  'knows of the server',
  'first label at 1',
  'at 3',
  'any label at 1',
  'at 3',
  'commonest class',
  'has a class',
  'ECE',
  'has a primary',
  'right',
];

if (values.write) write();
else report(Number(values.seed));

function write(): void {
  const { head, rarity, weights } = trainWeights(material);
  const bytes = toWeightsFile(head, embedding.id, rarity, weights);
  writeFileSync(FILE, bytes);
  console.log(`${FILE}: ${bytes.length} bytes, ${head.skills.length} skills`);
}

function report(seed: number): void {
  const trials = tryAll(material, prepare(material), seed);
  const servers = new Set(samples.map(({ group }) => group)).size;
  const show = (share: number | undefined) => (share === undefined ? '' : share.toFixed(3));
  console.log(`${samples.length} tools of ${servers} servers, seed ${seed}\n`);
  console.log(`| ${HEADINGS.join(' | ')} |`);
  console.log(`| ${HEADINGS.map(() => '---').join(' | ')} |`);
  for (const [name, byView] of Object.entries(trials)) {
    for (const view of VIEWS) {
      const said = measure(byView[view]);
      const known = view === 'whole' ? 'title and description' : 'its name';
      const figures = COLUMNS.map(column => show(said[column]));
      console.log(`| ${[name, known, ...figures].join(' | ')} |`);
    }
  }
}
