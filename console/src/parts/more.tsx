/** A button that loads the next page of a list, if there is one. */
import { useHeldFocus } from './use-held-focus.ts';

interface MoreProps {
  /** The result of `useInfiniteQuery`. */
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

export function More({ list }: MoreProps) {
  const button = useHeldFocus<HTMLButtonElement>(list.isFetchingNextPage);
  if (!list.hasNextPage) return null;
  return (
    <button
      ref={button}
      type="button"
      class="quiet"
      disabled={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      Load more
    </button>
  );
}
