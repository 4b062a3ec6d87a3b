/** The aggregator stories: their acceptance criteria, which the manifest has with the state of each. */
import { requirements } from '../requirements.ts';
import type { DocumentLine, SourceDocument } from './document.ts';

/** What Portico does otherwise, and why, by the criterion. */
const DIFFERENCES: Readonly<Record<string, Required<Pick<DocumentLine, 'does' | 'why'>>>> = {
  'AG-US6-AC5': {
    does: 'those that are new or changed since then wait for an approval',
    why: 'a server that was away may come back as somebody else’s',
  },
};

export const STORIES: SourceDocument = {
  title: 'MCP Server Aggregator, the seven stories',
  asked: 'Its acceptance criteria.',
  lines: requirements
    .filter(({ area }) => area.startsWith('AG-US'))
    .map(({ id, text }) => ({ id, says: text, ...DIFFERENCES[id] })),
};
