/** What an apply does after the gateway stopped answering. */
import { expect, it } from 'vitest';
import { carryOut } from '../../../cli/src/configuration/carry-out.ts';
import type { Change } from '../../../cli/src/configuration/plan.ts';
import { Unanswered } from '../../../cli/src/gateway/api.ts';

const replace = (key: string): Change => ({
  verb: 'replace',
  kind: 'budget',
  key,
  before: { kind: 'budget', id: key, content: {} },
  after: { subject: { kind: 'group', name: key }, calls_per_day: 1 },
  differences: [],
});

it('[OPS-6] an apply deletes and creates nothing more once a deletion is not answered', async () => {
  const asked: string[] = [];
  const api = {
    async json<T>(method: string, path: string): Promise<T> {
      asked.push(`${method} ${path}`);
      if (asked.length === 2) throw new Unanswered('silence');
      return {} as T;
    },
  };
  const outcomes = await carryOut(['a', 'b', 'c'].map(replace), {
    api,
    owner: 'mine',
    values: new Map(),
    known: [],
    wait: async () => {},
    onDone: () => {},
  });
  expect(asked).toEqual(['DELETE /api/v1/budgets/a', 'DELETE /api/v1/budgets/b']);
  expect(outcomes.map(({ problem }) => problem)).toEqual([
    'deleted, but not created again, since an earlier request failed',
    'silence',
    'not tried, since an earlier request failed',
  ]);
});
