/** Connects a client: what to paste or open, with a browser sign-in or a token created here; and the user's tokens. */
import { useQuery } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { toolsetsNamed } from '../api/suggestions.ts';
import { Select } from '../parts/field.tsx';
import { Empty } from '../parts/states.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { Suggest } from '../parts/suggest.tsx';
import { Told, type Telling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import type { Me } from '../api/me.ts';
import type { ViewProps } from '../view-props.ts';
import './connect/connect.css';
import {
  CHOICES,
  placeOf,
  signingInOf,
  toChoice,
  toInstallLink,
  toText,
  toUrl,
  type Choice,
} from './connect/clients.ts';
import { MakeToken } from './connect/make-token.tsx';
import { OwnTokens } from './connect/own-tokens.tsx';
import { Snippet } from '../parts/snippet.tsx';

/** The deployment's token belongs to no principal, so it cannot have tokens of its own. */
const DEPLOYMENT = 'setup-admin';
const WAYS = [
  ['sign-in', 'With the browser'],
  ['token', 'With a token'],
] as const;
type Way = (typeof WAYS)[number][0];

export default function Connect({ me }: ViewProps) {
  const [search, set] = useAddress();
  const [telling, setTelling] = useState<Telling>();
  const choice = toChoice(search.get('client'));
  const toolset = search.get('toolset') ?? '';
  const maySignIn = signingInOf(choice) !== undefined;
  const way: Way = maySignIn && search.get('with') !== 'token' ? 'sign-in' : 'token';
  const isAdmin = me.scopes.includes('admin') && !me.limited;
  const url = toUrl(location.origin, choice, toolset);
  return (
    <>
      <h1>Connect a client</h1>
      <form class="filters" onSubmit={event => event.preventDefault()}>
        <Select
          label="Client"
          value={choice}
          options={CHOICES}
          onValue={value => set('client', value)}
        />
        <Toolset value={toolset} mayList={isAdmin} onValue={value => set('toolset', value)} />
        <Select
          label="How it signs in"
          value={way}
          options={maySignIn ? WAYS : WAYS.slice(1)}
          onValue={value => set('with', value)}
        />
      </form>
      <h2>{placeOf(choice)}</h2>
      {way === 'sign-in' ? (
        <SigningIn choice={choice} url={url} />
      ) : (
        <WithToken key={choice} choice={choice} url={url} me={me} isBound={!isAdmin} />
      )}
      <h2>Your tokens</h2>
      <Told telling={telling} />
      {me.principal === DEPLOYMENT ? (
        <Empty>
          The token of the deployment belongs to nobody. Sign in as a person to have tokens.
        </Empty>
      ) : (
        <OwnTokens
          principal={me.principal}
          current={me.id}
          onRevoked={() => setTelling({ text: 'The token is revoked.' })}
        />
      )}
    </>
  );
}

interface ToolsetProps {
  value: string;
  /** Whether the API lists the toolsets. */
  mayList: boolean;
  onValue(value: string): void;
}

function Toolset({ value, mayList, onValue }: ToolsetProps) {
  const found = useQuery({ ...toolsetsNamed(value), enabled: mayList });
  const offered = found.data?.toolsets.map(({ name }) => name) ?? [];
  return (
    <Suggest
      label="Toolset; none for all tools"
      value={value}
      offered={offered}
      onValue={text => onValue(text.trim())}
    />
  );
}

interface WayProps {
  choice: Choice;
  url: string;
}

function SigningIn({ choice, url }: WayProps) {
  const link = choice === 'other' ? undefined : toInstallLink(choice, url);
  const [, name = ''] = CHOICES.find(([each]) => each === choice) ?? [];
  return (
    <>
      {link === undefined ? null : (
        <p class="actions">
          <a class="button" href={link}>
            Add to {name}
          </a>
          <span class="hint">It has to be on this machine. Or paste this:</span>
        </p>
      )}
      <Snippet label="What to paste" text={toText(choice, url, null)} />
      <p>{signingInOf(choice)}</p>
    </>
  );
}

interface WithTokenProps extends WayProps {
  me: Me;
  /** Whether a token made here ends with the current sign-in. */
  isBound: boolean;
}

function WithToken({ choice, url, me: { principal }, isBound }: WithTokenProps) {
  const [value, setValue] = useState<string>();
  const place = useRef<HTMLDivElement>(null);
  const done = () => {
    setValue(undefined);
    place.current?.focus();
  };
  return (
    <div ref={place} tabIndex={-1}>
      {value === undefined ? (
        <>
          <Snippet label="What to paste" text={toText(choice, url, undefined)} />
          {principal === DEPLOYMENT ? null : (
            <MakeToken
              principal={principal}
              client={choice}
              isBound={isBound}
              onMade={({ token }) => setValue(token)}
            />
          )}
        </>
      ) : (
        <ShownOnce
          label="What to paste, with the token"
          value={toText(choice, url, value)}
          rows={toText(choice, url, value).split('\n').length + 1}
          says="The token is in it: keep it as you keep a password."
          onDone={done}
        />
      )}
    </div>
  );
}
