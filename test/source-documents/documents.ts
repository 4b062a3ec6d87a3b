/** The documents whose lines have a table, in its order. */
import type { SourceDocument } from './document.ts';
import { EXAMPLES } from './examples.ts';
import { HOST } from './host.ts';
import { INTEGRATION } from './integration.ts';
import { MINIMAL } from './minimal.ts';
import { PROTOCOL } from './protocol.ts';
import { STORIES } from './stories.ts';

export const DOCUMENTS: readonly SourceDocument[] = [
  STORIES,
  EXAMPLES,
  PROTOCOL,
  MINIMAL,
  HOST,
  INTEGRATION,
];
