/** A button that loads the next page of a list, if there is one. */

interface MoreProps {
  /** The result of `useInfiniteQuery`. */
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
