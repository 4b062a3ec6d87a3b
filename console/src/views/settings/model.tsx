/** The language model of the deployment, its use today, and the daily limits. */
import { useQuery } from '@tanstack/preact-query';
import { modelQuery } from '../../api/model.ts';
import type { Model } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

const PURPOSES: Readonly<Record<string, string>> = {
  skills: 'finding skills of tools',
  ask: 'ask',
  chat: 'chat',
  index: 'vectors of tools',
  search: 'vectors of searches',
};

type Used = Model['usage'][number];

const PROBLEMS: Readonly<Record<NonNullable<Used['last_problem']>, string>> = {
  timeout: 'did not answer in time',
  aborted: 'was cancelled',
  rate_limited: 'refuses requests because of its rate limit',
  unavailable: 'is not available',
  broken: 'broke off',
  auth: 'refuses the key',
  no_key: 'no key is set',
  no_binding: 'no binding is set',
  not_found: 'is not known there',
  refused: 'refuses the request',
  nonsense: 'gave an unusable answer',
  budget: 'the budget of the day is spent',
};

const COLUMNS = ['Used for', 'Calls', 'Tokens', 'Failed', 'Last problem'];

export function LanguageModel() {
  const found = useQuery(modelQuery());
  if (found.error) return <Problem thrown={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Loading />;
  const { model, usage, ends_at: endsAt } = found.data;
  if (!model) {
    return (
      <Empty>
        The deployment has no language model. Settings of the deployment name one; ask and chat need
        it.
      </Empty>
    );
  }
  return (
    <>
      <dl class="facts">
        <dt>Model</dt>
        <dd>
          <Foreign text={model.name} max={200} /> by the API of {model.api}
        </dd>
        <dt>Vectors</dt>
        <dd>{model.embed_model === null ? 'none' : <Foreign text={model.embed_model} />}</dd>
        <dt>A day allows</dt>
        <dd>
          {model.calls_per_day.toLocaleString()} calls and {model.tokens_per_day.toLocaleString()}{' '}
          tokens for each purpose
        </dd>
        <dt>The next begins</dt>
        <dd>
          <Time at={endsAt} />
        </dd>
      </dl>
      {usage.length === 0 ? <Empty>It was not used today.</Empty> : <Usage usage={usage} />}
    </>
  );
}

const Usage = ({ usage }: { usage: readonly Used[] }) => (
  <Table label="Use today" columns={COLUMNS}>
    {usage.map(({ purpose, calls, tokens, failures, last_problem: why, last_failed_at: at }) => (
      <tr key={purpose}>
        <th scope="row">{PURPOSES[purpose] ?? <Foreign text={purpose} max={100} />}</th>
        <td>{calls.toLocaleString()}</td>
        <td>{tokens.toLocaleString()}</td>
        <td>{failures.toLocaleString()}</td>
        <td>
          {why === null ? null : PROBLEMS[why]} {at === null ? null : <Time at={at} />}
        </td>
      </tr>
    ))}
  </Table>
);
