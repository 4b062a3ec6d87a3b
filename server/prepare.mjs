/** Bundles the Worker and puts its static files together, so that a gateway whose files it cannot write to starts as quickly. */
import { readSourceFiles } from '../local/source-files.ts';

await readSourceFiles();
