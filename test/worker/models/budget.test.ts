/** The budget of a model while the database fails after the model has answered. */
import { expect, it } from 'vitest';
import { createBudget } from '../../../src/models/budget-service.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';

/** A database that lets a draw pass and fails from then on. */
function createBudgetOf() {
  let runs = 0;
  const run = async () => {
    runs += 1;
    if (runs > 1) throw new Error('the database is away');
    return { meta: { changes: 1 } };
  };
  const prepare = () => ({ bind: () => ({ run }) });
  const db = { prepare, batch: run } as unknown as D1Database;
  return createBudget({ db, purpose: 'p', perDay: { calls: 9, tokens: 900 }, now: () => 0 });
}

it('[LLM-3] an answer is not lost if its tokens cannot be counted', async () => {
  const answer = createBudgetOf()(
    100,
    async () => 'paid for',
    () => 7,
  );
  expect(await answer).toBe('paid for');
});

it('[LLM-3] a failure stays what it was if it cannot be noted', async () => {
  const fail = () => Promise.reject(new ModelFailure('rate_limited'));
  await expect(createBudgetOf()(100, fail, () => 0)).rejects.toMatchObject({
    problem: 'rate_limited',
  });
});
