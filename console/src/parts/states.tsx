/** What a view shows without data: loading, an error, or an empty list. */
import type { ComponentChildren } from 'preact';
import { Foreign } from './foreign.tsx';

export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
);

/** Longest error text; a server may have written it. */
const MAX_CHARS = 2_000;

/** @param onRetry repeats the request */
export function Problem({ thrown, onRetry }: { thrown: unknown; onRetry?: () => void }) {
  const text = thrown instanceof Error ? thrown.message : 'Something went wrong';
  return (
    <div class="problem" role="alert">
      <p>
        <Foreign text={text} max={MAX_CHARS} />
      </p>
      {onRetry ? (
        <button type="button" class="quiet" onClick={onRetry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);
