/** A plan to call what stands in for tools that the caller cannot list before it has connected an account. */
import { expect, it } from 'vitest';
import { toGuarded } from '../../../src/agents/ask/live-tools.ts';
import { decidePlan } from '../../../src/agents/ask/request-guard.ts';
import { standInCatalog } from '../../../src/gateway/stand-in.ts';
import { createRecord } from '../gateway/fakes.ts';
import { planOf } from './scripted-ask.ts';

const server = createRecord('documents', { needsAccount: true, catalogHash: null });
const [item] = standInCatalog(server)?.tools.items ?? [];
const most = { calls: 1, questions: 2, tokens: 1_000, elapsedMs: 1_000 };
const spent = { calls: 0, questions: 1, tokens: 0, elapsedMs: 0 };
const decide = (allowed: string) =>
  decidePlan(planOf('documents', 'connect'), {
    find: () => item && toGuarded({ name: 'documents.connect', server, item }),
    entries: [{ server: allowed, tool: 'search_*', sideEffects: false }],
    spent,
    most,
  });

it('[LLM-4] is allowed where a tool of its server is, so that the answer has the link', () => {
  expect(decide(server.id)).toMatchObject({ decision: 'allowed', plan: { tool: 'connect' } });
  expect(decide('id-of-another')).toMatchObject({ decision: 'refused', reason: 'not_allowed' });
});
