/** `npm run documents-table`: writes the tables of docs/source-documents.md, or says why they cannot be written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeInto } from '../protocol/table.ts';
import { checkDocuments, MARK, toTables } from './document.ts';
import { DOCUMENTS } from './documents.ts';

const file = fileURLToPath(new URL('../../docs/source-documents.md', import.meta.url));
const text = writeInto(readFileSync(file, 'utf8'), toTables(DOCUMENTS), MARK);
writeFileSync(file, text);
const faults = checkDocuments(DOCUMENTS);
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
