/** The button that loads the next page of a list, where there is one. */

interface MoreProps {
  /** As `useInfiniteQuery` gives it. */
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

export const More = ({ list }: MoreProps) =>
  list.hasNextPage ? (
    <button
      type="button"
      class="quiet"
      disabled={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      Load more
    </button>
  ) : null;
