/** The rules for one kind of subject; denying rules first, since they win. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { principalQuery } from '../../api/people.ts';
import { rulesQuery, type SubjectKind } from '../../api/access-rules.ts';
import type { AccessRule } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { toSentence } from '../../parts/rule-words.ts';
import { Table } from '../../parts/table.tsx';

const deniesFirst = (a: AccessRule, b: AccessRule) =>
  Number(a.effect === 'allow') - Number(b.effect === 'allow');

export function RuleList({ kind, title }: { kind: SubjectKind; title: string }) {
  const list = useInfiniteQuery(rulesQuery(kind));
  return (
    <section>
      <h2>{title}</h2>
      <PagedList list={list} itemsOf={page => page.rules} none="There is none.">
        {rules => (
          <Table label={title} columns={['Rule', 'Why']}>
            {rules.toSorted(deniesFirst).map(rule => (
              <RuleRow key={rule.id} rule={rule} />
            ))}
          </Table>
        )}
      </PagedList>
    </section>
  );
}

function RuleRow({ rule }: { rule: AccessRule }) {
  const { id, effect, subject, description } = rule;
  const principal = useQuery(principalQuery(subject.kind === 'principal' ? subject.id : '')).data;
  return (
    <tr>
      <th scope="row" class="sentence">
        <span class={`badge ${effect === 'allow' ? 'good' : 'bad'}`}>{effect}</span>{' '}
        <Link href={`/rules?rule=${encodeURIComponent(id)}`}>
          <Foreign text={toSentence(rule, principal?.name ?? '…')} max={400} />
        </Link>
      </th>
      <td>
        <Foreign text={description} max={400} />
      </td>
    </tr>
  );
}
