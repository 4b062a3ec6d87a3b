/** The console begins: one cache of answers for all views, and the shell around them. */
import './style.css';
import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { ApiProblem } from './api/request.ts';
import { App } from './app.tsx';

/** Answers are shown at once and asked for anew when somebody looks at them again after this time, in milliseconds. */
const STALE_MS = 5_000;
const MAX_TRIES = 3;

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // What the gateway refused it would refuse again.
      retry: (tries, thrown) => tries < MAX_TRIES && !(thrown instanceof ApiProblem),
    },
    mutations: { retry: false },
  },
});

const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(
    <QueryClientProvider client={cache}>
      <App />
    </QueryClientProvider>,
    place,
  );
}
