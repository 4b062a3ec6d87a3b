/** A form for a token to use in this tab instead of a sign-in: the deployment's own token cannot sign anybody in. */
import { useState } from 'preact/hooks';
import { useToken } from '../api/request.ts';
import { Problem } from './states.tsx';

interface TokenFormProps {
  /** The gateway refused the token that was given before. */
  isRefused: boolean;
  onToken: () => void;
}

export function TokenForm({ isRefused, onToken }: TokenFormProps) {
  const [text, setText] = useState('');
  return (
    <main class="card">
      <h1>Use a token in this tab</h1>
      <p>It stays in this page and is gone when you leave it. It does not sign you in.</p>
      {isRefused ? <Problem thrown={new Error('The gateway refuses this token.')} /> : null}
      <form
        autocomplete="off"
        onSubmit={event => {
          event.preventDefault();
          useToken(text.trim());
          onToken();
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          required
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit">Use it</button>
      </form>
    </main>
  );
}
