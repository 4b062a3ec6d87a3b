/** Budgets of calls per day: the list with today's use; set (`?add=one`), change (`?budget=ID`) or end one. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { Link, useLocation } from 'wouter-preact';
import { BUDGETS, budgetsQuery, deleteBudget } from '../../api/budgets.ts';
import type { Budget } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { useOpened } from '../../parts/use-opened.ts';
import { AddBudget, EditBudget } from './budget-form.tsx';
import { UsageHead } from './head.tsx';
import { useSubjectName } from './subject-name.ts';

const HERE = '/usage?tab=budgets';
const COLUMNS = ['Whose', 'Calls a day', 'Used today', { hidden: 'What can be done' }];
const NONE = 'Nobody has a budget: only the limits of calls per minute apply.';

export function Budgets() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useInfiniteQuery(budgetsQuery());
  const id = search.get('budget');
  const found = list.data?.pages.flatMap(page => page.budgets).find(each => each.id === id);
  const edited = useOpened(id, found);
  const isAdding = search.get('add') === 'one';
  const [telling, tell] = useTelling(isAdding || edited !== undefined);
  const changed = (text: string) => {
    tell(text);
    void cache.invalidateQueries({ queryKey: BUDGETS });
    go(HERE);
  };
  if (isAdding) return <AddBudget back={HERE} onSaved={() => changed('The budget is set.')} />;
  if (edited) {
    const onSaved = () => changed('The budget is changed.');
    return <EditBudget key={edited.id} budget={edited} back={HERE} onSaved={onSaved} />;
  }
  return (
    <>
      <UsageHead />
      <p>
        How many calls a principal, or everybody in a group together, may make in a day (UTC). A
        call counts against the budget of its caller and of each of their groups.
      </p>
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href={`${HERE}&add=one`}>
          Set a budget
        </Link>
      </p>
      <PagedList list={list} itemsOf={page => page.budgets} none={NONE}>
        {budgets => (
          <Table label="Budgets" columns={COLUMNS}>
            {budgets.map(budget => (
              <BudgetRow
                key={budget.id}
                budget={budget}
                onDeleted={() => changed('The budget is deleted.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function BudgetRow({ budget, onDeleted }: { budget: Budget; onDeleted: () => void }) {
  const { id, calls_per_day: most, used_today: used } = budget;
  const name = useSubjectName(budget) ?? '…';
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={100} />
      </th>
      <td class="number">{most.toLocaleString('en')}</td>
      <td class="used">
        {used === null ? (
          'not known now'
        ) : (
          <>
            {used.toLocaleString('en')}{' '}
            {used >= most ? <span class="badge bad">used up</span> : null}
            <meter
              value={Math.min(used, most)}
              high={0.8 * most}
              optimum={0}
              max={most}
              aria-label={`Used by ${toShown(name, 100)}`}
            />
          </>
        )}
      </td>
      <td>
        <div class="actions">
          <Link
            class="button quiet"
            href={`${HERE}&budget=${id}`}
            aria-label={`Change the budget of ${toShown(name, 100)}`}
          >
            Change
          </Link>
          <Confirm
            label="Delete"
            says={`Calls of ${toShown(name, 100)} no longer have a budget of their own, within a second.`}
            act={() => deleteBudget(id)}
            onDone={onDeleted}
          />
        </div>
      </td>
    </tr>
  );
}
