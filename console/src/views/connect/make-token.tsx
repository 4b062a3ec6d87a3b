/** Creates a token for one client. What was typed stays, whatever the gateway responds. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { createToken } from '../../api/tokens.ts';
import type { IssuedToken } from '../../generated/types.gen.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Problem } from '../../parts/states.tsx';
import { useAct } from '../../parts/use-act.ts';

interface MakeTokenProps {
  principal: string;
  /** Default name. */
  client: string;
  /** Whether it ends with the current sign-in. */
  isBound: boolean;
  onMade(token: IssuedToken): void;
}

const DAY_MS = 86_400_000;
const LIVES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['', 'until it is revoked'],
] as const;
type Life = (typeof LIVES)[number][0];

export function MakeToken({ principal, client, isBound, onMade }: MakeTokenProps) {
  const cache = useQueryClient();
  const [typed, setTyped] = useState<string>();
  const [life, setLife] = useState<Life>('90');
  const { isBusy, thrown, run, place } = useAct<HTMLFormElement>();
  const name = typed ?? client;

  async function make(): Promise<void> {
    const ends = life === '' ? undefined : new Date(Date.now() + Number(life) * DAY_MS);
    const body = { name, principal, ...(ends ? { expires_at: ends.toISOString() } : {}) };
    try {
      onMade(await createToken(body));
    } finally {
      void cache.invalidateQueries({ queryKey: ['tokens'] });
    }
  }

  const wrongName = messageFor(thrown, 'name');
  return (
    <form
      ref={place}
      class="make-token"
      autocomplete="off"
      inert={isBusy}
      onSubmit={event => {
        event.preventDefault();
        run(make);
      }}
    >
      <Text
        label="Name of the token"
        wrong={wrongName}
        isRequired
        maxLength={100}
        value={name}
        onValue={setTyped}
      />
      <Select label="It works for" value={life} options={LIVES} onValue={setLife} />
      {thrown === undefined || wrongName ? null : <Problem thrown={thrown} />}
      <p class="actions">
        <button type="submit" disabled={isBusy}>
          Make a token
        </button>
      </p>
      <p class="hint">
        It lists and calls the tools that you may use, and does nothing else.{' '}
        {isBound ? 'It ends with the token or identity with which you signed in.' : null}
      </p>
    </form>
  );
}
