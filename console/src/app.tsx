/** The shell: the signed-in user, the views available to them, and the view for the current path. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { Link, Route, Router, Switch, useLocation } from 'wouter-preact';
import { streamEvents } from './api/events.ts';
import { beginLive, type LivePorts } from './api/live.ts';
import { mayUse, meQuery, type Me } from './api/me.ts';
import { ApiProblem, hasToken, useToken } from './api/request.ts';
import { SignedOut, SignedOutDialog } from './parts/signed-out.tsx';
import { Loading, Problem } from './parts/states.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { VIEWS, type View } from './views.ts';

const BASE = '/console';
const asksForToken = () => new URLSearchParams(location.search).has('token');

/** How often a page whose sign-in has ended looks for a new one, in milliseconds. */
const SIGNED_OUT_MS = 3_000;
const isRefused = (thrown: unknown) => thrown instanceof ApiProblem && thrown.status === 401;

export function App() {
  const me = useQuery({
    ...meQuery(),
    // With `?token` the page is not for who is signed in, but for whose token is given.
    enabled: ({ state }) => !asksForToken() || hasToken() || state.data !== undefined,
    // Notices a sign-in in another tab.
    refetchInterval: ({ state }) => (isRefused(state.error) && state.data ? SIGNED_OUT_MS : false),
  });
  useOneUser(me.data?.principal);
  const isSignedOut = isRefused(me.error);
  useEffect(() => {
    // A token that ended does not come back; a sign-in in another tab counts from now on.
    if (isSignedOut && me.data) useToken(undefined);
  }, [isSignedOut, me.data]);
  if (me.data) {
    return (
      <Router base={BASE}>
        <Shell me={me.data} />
        {isSignedOut ? <SignedOutDialog /> : null}
      </Router>
    );
  }
  if (asksForToken() && (isSignedOut || !me.error)) {
    return <TokenForm isRefused={isSignedOut} onToken={() => void me.refetch()} />;
  }
  if (isSignedOut) return <SignedOut />;
  if (me.error) return <Problem thrown={me.error} onRetry={() => void me.refetch()} />;
  return <Loading />;
}

/** Shown instead of a view whose script cannot be loaded. After an upgrade another page has another script. */
const NotLoaded = () => (
  <>
    <h1>This view could not be loaded</h1>
    <Problem
      thrown={new Error('The network failed, or the gateway has another version by now.')}
      onRetry={() => location.reload()}
    />
  </>
);

/** Loads the page anew where somebody else signed in meanwhile: views keep what the first user may see. */
function useOneUser(principal: string | undefined): void {
  const first = useRef(principal);
  useEffect(() => {
    first.current ??= principal;
    if (first.current !== principal) location.reload();
  }, [principal]);
}

const isFor =
  ({ scopes }: Me) =>
  ({ needs }: View) =>
    needs === undefined || scopes.includes('admin') || scopes.includes(needs);
/** The page cannot tell a script that is gone from one that is broken; the log of the browser says which. */
const orNotLoaded = (thrown: unknown) => {
  console.error(thrown);
  return { default: NotLoaded };
};
const lazyViews = new Map(
  VIEWS.map(({ path, load }) => [path, lazy(() => load().catch(orNotLoaded))]),
);
// Loads the script of the opened view while the request for the user is still running.
const opened = location.pathname.slice(BASE.length) || '/';
void VIEWS.find(({ path }) => path === opened)
  ?.load()
  .catch(() => {});

function Shell({ me }: { me: Me }) {
  const views = VIEWS.filter(isFor(me));
  const cache = useQueryClient();
  const isTold = mayUse(me, 'servers:read');
  useEffect(() => {
    if (!isTold) return undefined;
    const listen: LivePorts['listen'] = (signal, hear) => streamEvents('events', { signal }, hear);
    return beginLive({ cache, page: document, listen });
  }, [cache, isTold]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <strong>Portico</strong>
        <span class="who">{me.name}</span>
        <form method="post" action="/sign-out">
          <button class="quiet" type="submit">
            Sign out
          </button>
        </form>
      </header>
      <nav aria-label="Views">
        <ul>
          {views.map(view => (
            <NavLink key={view.path} view={view} />
          ))}
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {views.map(({ path }) => {
              const Page = lazyViews.get(path);
              return (
                <Route key={path} path={path}>
                  {Page ? <Page me={me} /> : null}
                </Route>
              );
            })}
            <Route>
              <h1>There is no such view for you</h1>
            </Route>
          </Switch>
        </Suspense>
      </main>
    </div>
  );
}

function NavLink({ view: { path, name } }: { view: View }) {
  const [at] = useLocation();
  const isHere = at === path;
  const item = useRef<HTMLLIElement>(null);
  // On a narrow page the navigation is one scrollable line. `scrollIntoView` would also move the start of keyboard navigation here.
  useEffect(() => {
    const line = item.current?.closest('nav');
    if (!isHere || !item.current || !line) return;
    const { offsetLeft, offsetWidth } = item.current;
    line.scrollLeft = offsetLeft - line.offsetLeft - (line.clientWidth - offsetWidth) / 2;
  }, [isHere]);
  return (
    <li ref={item}>
      <Link href={path} aria-current={isHere ? 'page' : undefined}>
        {name}
      </Link>
    </li>
  );
}
