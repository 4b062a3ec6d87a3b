/** Starts the console: one query cache for all views, and the shell. */
import './style.css';
import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { meQuery } from './api/me.ts';
import { ApiProblem, onRefused } from './api/request.ts';
import { App } from './app.tsx';
import { Ticking } from './parts/ticks.tsx';

/** Data older than this is refreshed when it is shown again, in milliseconds. */
const STALE_MS = 5_000;
const MAX_TRIES = 3;

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // A retry would be refused again.
      retry: (tries, thrown) => tries < MAX_TRIES && !(thrown instanceof ApiProblem),
    },
    mutations: { retry: false },
  },
});

// Then the shell asks for a new sign-in.
onRefused(() => void cache.invalidateQueries({ queryKey: meQuery().queryKey }));

const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(
    <QueryClientProvider client={cache}>
      <Ticking>
        <App />
      </Ticking>
    </QueryClientProvider>,
    place,
  );
}
