/** Rules of the result cache: list, add (`?add=rule`), edit (`?rule=ID`) and delete. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { Link, useLocation } from 'wouter-preact';
import { CACHE_RULES, cacheRulesQuery, deleteCacheRule } from '../../api/cache-rules.ts';
import type { CacheRule } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { useOpened } from '../../parts/use-opened.ts';
import { AddCacheRule, EditCacheRule } from './cache-rule-form.tsx';

const HERE = '/settings?section=cache';
const COLUMNS = ['Server', 'Tool', 'For', 'Whose', 'Why', { hidden: 'What can be done' }];

export function CacheRules() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useInfiniteQuery(cacheRulesQuery());
  const id = search.get('rule');
  const found = list.data?.pages.flatMap(({ rules }) => rules).find(each => each.id === id);
  const rule = useOpened(id, found);
  const isAdding = search.get('add') === 'rule';
  const [telling, tell] = useTelling(isAdding || rule !== undefined);
  const changed = (text: string) => {
    tell(text);
    void cache.invalidateQueries({ queryKey: CACHE_RULES });
    go(HERE);
  };
  if (isAdding) {
    return <AddCacheRule back={HERE} onSaved={() => changed('The rule is added.')} />;
  }
  if (rule) {
    const saved = () => changed('The rule is saved. Results cached under it are no longer used.');
    return <EditCacheRule key={rule.id} rule={rule} back={HERE} onSaved={saved} />;
  }
  return (
    <>
      <p>
        Calls of a read-only tool may be answered from the cache if a rule says so. Rules take
        effect within a second.
      </p>
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href={`${HERE}&add=rule`}>
          Add a rule
        </Link>
      </p>
      <PagedList
        list={list}
        itemsOf={page => page.rules}
        none="There is no rule: every call is sent to its server."
      >
        {rules => (
          <Table label="Rules of the result cache" columns={COLUMNS}>
            {rules.map(each => (
              <RuleRow
                key={each.id}
                rule={each}
                onDeleted={() => changed('The rule is deleted.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function RuleRow({ rule, onDeleted }: { rule: CacheRule; onDeleted: () => void }) {
  const { id, server, tool, ttl_seconds: seconds, public: isPublic, description } = rule;
  const of = `${toShown(tool, 100)} of ${toShown(server, 100)}`;
  return (
    <tr>
      <th scope="row">
        <Foreign text={server} max={100} />
      </th>
      <td>
        <code>
          <Foreign text={tool} max={200} />
        </code>
      </td>
      <td>{toDuration(seconds)}</td>
      <td>{isPublic ? 'the same for all' : 'each principal its own'}</td>
      <td class="sentence">
        <Foreign text={description} max={300} />
      </td>
      <td>
        <div class="actions">
          <Link
            class="button quiet"
            href={`${HERE}&rule=${id}`}
            aria-label={`Edit the rule for ${of}`}
          >
            Edit
          </Link>
          <Confirm
            label="Delete"
            says={`Calls of ${of} are sent to the server again, and cached results are no longer used.`}
            act={() => deleteCacheRule(id)}
            onDone={onDeleted}
          />
        </div>
      </td>
    </tr>
  );
}

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** Formats like `5 min` where that is exact, else in seconds. */
function toDuration(seconds: number): string {
  const unit = UNITS.find(([length]) => seconds % length === 0);
  return unit ? `${seconds / unit[0]} ${unit[1]}` : `${seconds} s`;
}
