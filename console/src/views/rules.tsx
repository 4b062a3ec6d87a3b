/** Access rules in the order in which they apply; the open one is in the address: `?rule=ID`, `?add=one`. */
import { useQuery } from '@tanstack/preact-query';
import { useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { ruleQuery } from '../api/explain.ts';
import { principalQuery } from '../api/people.ts';
import type { SubjectKind } from '../api/access-rules.ts';
import type { AccessRule, Principal } from '../generated/types.gen.ts';
import { Opening } from '../parts/opening.tsx';
import { Told, useTelling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import { ALL_RULES, RuleEditor } from './rules/editor.tsx';
import { RuleList } from './rules/list.tsx';

const LEVELS: readonly [kind: SubjectKind, title: string][] = [
  ['principal', 'First: for one person or program'],
  ['group', 'Then: for groups'],
  ['everyone', 'Last: for everyone'],
];

export default function Rules() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const id = search.get('rule');
  const isAdding = search.get('add') === 'one';
  const [telling, tell] = useTelling(isAdding || id !== null);
  const onDone = (text: string) => {
    tell(text);
    go('/rules');
  };
  if (id !== null) return <OneRule key={id} id={id} onDone={onDone} />;
  if (isAdding) return <RuleEditor onDone={onDone} />;
  return (
    <>
      <h1>Rules</h1>
      <p>
        Who may use which tools. The first level where a rule matches decides; there, a rule that
        denies outweighs all that allow. Where none matches, everybody may use the tool, or nobody,
        as the deployment is set up.
      </p>
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href="/rules?add=one">
          Add a rule
        </Link>
      </p>
      {LEVELS.map(([kind, title]) => (
        <RuleList key={kind} kind={kind} title={title} />
      ))}
    </>
  );
}

function OneRule({ id, onDone }: { id: string; onDone: (says: string) => void }) {
  const found = useQuery(ruleQuery(id));
  const rule = found.data;
  const subject = rule?.subject.kind === 'principal' ? rule.subject.id : '';
  const principal = useQuery(principalQuery(subject));
  // What is typed stays while somebody else gives the rule another subject.
  const opened = useRef<{ rule: AccessRule; whose: Principal | undefined }>();
  if (rule && (subject === '' || !principal.isPending)) {
    opened.current ??= { rule, whose: principal.data };
  }
  if (opened.current) return <RuleEditor {...opened.current} onDone={onDone} />;
  return <Opening back={ALL_RULES} found={found} />;
}
