/** `npm run protocol-table`: writes the table of docs/protocol-support.md, or prints why it cannot be written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { features } from './features.ts';
import { readProofs } from './proofs.ts';
import { checkFeatures, toTable, writeInto } from './table.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const file = `${root}docs/protocol-support.md`;

const proofs = readProofs(root);
writeFileSync(file, writeInto(readFileSync(file, 'utf8'), toTable(features, proofs)));
const faults = checkFeatures(features, proofs);
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
