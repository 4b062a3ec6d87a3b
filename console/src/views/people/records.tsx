/** A list of records that can each be ended. The outcome is shown, since the record is then gone. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Page, paged } from '../../api/paged.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, type Telling } from '../../parts/told.tsx';

interface RecordsProps<P extends Page, T extends { id: string }> {
  /** Accessible name of the table. */
  label: string;
  query: ReturnType<typeof paged<P>>;
  itemsOf: (page: P) => readonly T[];
  /** Text for an empty list. */
  none: string;
  columns: readonly string[];
  /** The cells of a row in the order of the columns, without the actions. */
  cells: (item: T) => ComponentChildren;
  /** Text of the button that ends a record. */
  verb: string;
  /** What ending it does. */
  says: (item: T) => string;
  end: (id: string) => Promise<unknown>;
  /** The outcome to show. */
  ended: (item: T) => string;
}

export function Records<P extends Page, T extends { id: string }>(props: RecordsProps<P, T>) {
  const { label, query, itemsOf, none, columns, cells, verb, says, end, ended } = props;
  const cache = useQueryClient();
  const list = useInfiniteQuery(query);
  const [telling, setTelling] = useState<Telling>();
  const endOne = async (id: string) => {
    await end(id);
    await cache.invalidateQueries({ queryKey: query.queryKey.slice(0, 1) });
  };
  return (
    <>
      <Told telling={telling} />
      <PagedList list={list} itemsOf={itemsOf} none={none}>
        {items => (
          <Table label={label} columns={[...columns, { hidden: 'What can be done' }]}>
            {items.map(item => (
              <tr key={item.id}>
                {cells(item)}
                <td>
                  <Confirm
                    label={verb}
                    says={says(item)}
                    act={() => endOne(item.id)}
                    onDone={() => setTelling({ text: ended(item) })}
                  />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}
