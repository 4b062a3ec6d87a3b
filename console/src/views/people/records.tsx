/** A list of records of one kind, each of which can be ended: what was done is told where the record is gone. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Page, paged } from '../../api/paged.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, type Telling } from '../../parts/told.tsx';

interface RecordsProps<P extends Page, T extends { id: string }> {
  /** Of the table. */
  label: string;
  query: ReturnType<typeof paged<P>>;
  itemsOf: (page: P) => readonly T[];
  /** What is said where there is nothing. */
  none: string;
  columns: readonly string[];
  /** A row without what can be done: cells in the order of the columns. */
  cells: (item: T) => ComponentChildren;
  /** On the button that ends one. */
  verb: string;
  /** What ending it does. */
  says: (item: T) => string;
  end: (id: string) => Promise<unknown>;
  /** What is told then. */
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
