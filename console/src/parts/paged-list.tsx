/** A list that loads page by page: how many items are loaded, the items, and a button for more. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import type { Page } from '../api/paged.ts';
import { More } from './more.tsx';
import { Empty, Loading, Problem } from './states.tsx';

interface ListProps<P extends Page, T> {
  list: UseInfiniteQueryResult<InfiniteData<P>>;
  itemsOf: (page: P) => readonly T[];
  /** Text for an empty list. */
  none: string;
  children: (items: readonly T[]) => ComponentChildren;
}

export function PagedList<P extends Page, T>({ list, itemsOf, none, children }: ListProps<P, T>) {
  const items = list.data?.pages.flatMap(itemsOf) ?? [];
  return (
    <>
      {list.error ? <Problem thrown={list.error} onRetry={() => void list.refetch()} /> : null}
      {list.data || list.error ? null : <Loading />}
      {list.data && items.length === 0 ? <Empty>{none}</Empty> : null}
      {items.length > 0 ? (
        <>
          <p role="status" class="empty">
            {items.length} of {list.data?.pages[0]?.total}
          </p>
          {children(items)}
        </>
      ) : null}
      <More list={list} />
    </>
  );
}
