/** What the console shows once the sign-in has ended: a page if nothing was open, a dialog over the view if something was. */
import { useLayoutEffect, useRef } from 'preact/hooks';

const signInUrl = (back: string): string => `/sign-in?return=${encodeURIComponent(back)}`;

/** The path, with its query, is kept for the return. */
export function SignedOut() {
  return (
    <main class="card">
      <h1>You are signed out</h1>
      <p>
        <a class="button" href={signInUrl(location.pathname + location.search)}>
          Sign in
        </a>
      </p>
    </main>
  );
}

/** Hides the view, and keeps what was typed into it, until somebody has signed in in another tab. */
export function SignedOutDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="curtain"
      aria-labelledby="signed-out"
      // A browser may close a dialog whatever this says, at a second Escape; then it is shown again.
      onCancel={event => event.preventDefault()}
      onClose={({ currentTarget }) => currentTarget.showModal()}
    >
      <h2 id="signed-out">You are signed out</h2>
      <p>What you typed here is kept, and this page goes on once you are signed in again.</p>
      <p>
        <a class="button" href={signInUrl('/console')} target="_blank" rel="noopener">
          Sign in in a new tab
        </a>
      </p>
    </dialog>
  );
}
