/** The decision: its result, each step in order, and what to change. */
import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { STEP_ADVICE } from '../../../../src/gateway/explain/step-advice.ts';
import { ruleQuery } from '../../api/explain.ts';
import type { AccessExplanation } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { toSentence } from '../../parts/rule-words.ts';
import { STEPS, toVerdict, type Step } from './advice.ts';

interface DecisionProps {
  found: AccessExplanation;
  /** Name of the principal. */
  name: string;
}

export function Decision({ found, name }: DecisionProps) {
  const { is_allowed: isAllowed, is_listed: isListed, groups, is_read_only: isReadOnly } = found;
  return (
    <section aria-live="polite" aria-atomic="true">
      <h2>
        <Foreign text={name} max={60} /> {isAllowed ? 'may call' : 'may not call'}{' '}
        <Foreign text={`${found.server.name}.${found.tool}`} />
      </h2>
      <p>
        {isListed ? 'Lists have the tool. ' : 'Lists do not have the tool. '}
        {isAllowed ? 'A call is sent to the server.' : 'A call is refused'}
        {isAllowed || found.code === null ? null : (
          <>
            {' '}
            with <code>{found.code}</code>.
          </>
        )}{' '}
        {groups.length === 0 ? 'In no group' : 'In the groups '}
        {groups.map((group, i) => (
          <span key={group}>
            {i === 0 ? null : ', '}
            <Foreign text={group} max={60} />
          </span>
        ))}
        {'. '}
        {isReadOnly === null
          ? null
          : isReadOnly
            ? 'The tool only reads.'
            : 'The tool may change things.'}
      </p>
      <ol class="steps">
        {found.steps.map(step => (
          <StepItem
            key={step.step}
            step={step}
            decides={step.step === found.decided_by}
            name={name}
          />
        ))}
      </ol>
    </section>
  );
}

const BADGES = { passes: 'good', refuses: 'bad', 'not known': '' } as const;

interface StepProps {
  step: Step;
  decides: boolean;
  name: string;
}

function StepItem({ step, decides, name }: StepProps) {
  const verdict = toVerdict(step.passes);
  const words = STEPS[step.step];
  return (
    <li class={decides ? 'decides' : undefined}>
      <p>
        <strong>{words.name}</strong> <span class={`badge ${BADGES[verdict]}`}>{verdict}</span>{' '}
        {decides ? <span class="badge">decides</span> : null}
      </p>
      <p>
        <Foreign text={step.detail} max={1_000} />
      </p>
      {step.rules.length === 0 ? null : (
        <ul>
          {step.rules.map(id => (
            <RuleItem key={id} id={id} name={name} />
          ))}
        </ul>
      )}
      {step.passes === false ? (
        <p class="notice">
          {STEP_ADVICE[step.step]}{' '}
          {words.view ? <Link href={words.view.path}>{words.view.name}</Link> : null}
        </p>
      ) : null}
    </li>
  );
}

function RuleItem({ id, name }: { id: string; name: string }) {
  const { data: rule, isPending } = useQuery(ruleQuery(id));
  if (isPending) return <li>…</li>;
  return (
    <li>
      {rule ? (
        <Link href={`/rules?rule=${encodeURIComponent(id)}`}>
          <Foreign text={toSentence(rule, name)} max={400} />
        </Link>
      ) : (
        <code>{id}</code>
      )}
      {rule && rule.description !== '' ? (
        <>
          {': '}
          <Foreign text={rule.description} max={400} />
        </>
      ) : null}
    </li>
  );
}
