/** What a view shows while it has nothing to show: it waits, something went wrong, or there is nothing. */
import type { ComponentChildren } from 'preact';
import { Foreign } from './foreign.tsx';

export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
);

/** Of what went wrong; a server may have written it. */
const MAX_CHARS = 2_000;

/** @param onRetry asks again */
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
