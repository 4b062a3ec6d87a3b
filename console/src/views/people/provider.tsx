/** One provider: its settings, identities and actions. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { deleteProvider, providerQuery } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { boxOf } from '../../parts/box.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Opening } from '../../parts/opening.tsx';
import { Problem } from '../../parts/states.tsx';
import { PROVIDERS } from './addresses.ts';
import { EditProvider } from './edit-provider.tsx';
import { Identities } from './identities.tsx';
import { toValues } from './provider-values.ts';

interface DetailsProps {
  id: string;
  onDeleted: (name: string) => void;
}

const BACK = [PROVIDERS, 'All providers'] as const;

export function ProviderDetails({ id, onDeleted }: DetailsProps) {
  const found = useQuery(providerQuery(id));
  const [isEdited, setEdited] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const provider = found.data;
  const thrown = found.error ? (
    <Problem thrown={found.error} onRetry={() => void found.refetch()} />
  ) : null;
  if (!provider) return <Opening back={BACK} found={found} />;
  const endEdit = () => {
    setEdited(false);
    editButton.current?.focus();
  };
  return (
    <>
      <Heading back={BACK}>
        <Foreign text={provider.name} />
      </Heading>
      {thrown}
      <p class="actions">
        <button ref={editButton} type="button" class="quiet" onClick={() => setEdited(true)}>
          Edit
        </button>
        <Delete provider={provider} onDeleted={() => onDeleted(provider.name)} />
      </p>
      {isEdited ? <EditProvider provider={provider} onDone={endEdit} /> : null}
      <Facts provider={provider} />
      <Identities provider={provider} />
    </>
  );
}

interface DeleteProps {
  provider: SignInProvider;
  onDeleted: () => void;
}

function Delete({ provider: { id, name }, onDeleted }: DeleteProps) {
  const cache = useQueryClient();
  const leave = () => {
    onDeleted();
    cache.removeQueries({ queryKey: ['sign-in-providers', 'one', id] });
    void cache.invalidateQueries({ queryKey: ['sign-in-providers'] });
  };
  return (
    <Confirm
      label="Delete"
      says={`Nobody signs in by ${toShown(name)} any more, and its identities are deleted. Browsers and programs that signed in through it are signed out at once; the principals stay.`}
      act={() => deleteProvider(id)}
      onDone={leave}
    />
  );
}

function Facts({ provider }: { provider: SignInProvider }) {
  const { issuer, client_id: client, client_secret: secret, groups_claim: claim } = provider;
  const { group_map: groups, required_claims: required } = toValues(provider);
  const who = provider.creates_principals
    ? 'Everybody who may sign in gets a principal'
    : 'People who are linked below';
  return (
    <dl class="facts">
      <dt>Issuer</dt>
      <dd>
        <Foreign text={issuer} />
      </dd>
      <dt>Client id</dt>
      <dd>
        <Foreign text={client} />
      </dd>
      <dt>Secret</dt>
      <dd>{secret ?? 'none'}</dd>
      <dt>Who comes</dt>
      <dd {...boxOf(required)}>
        {who}
        {required === '' ? null : (
          <>
            {', where\n'}
            <Foreign text={required} />
          </>
        )}
      </dd>
      <dt>Groups</dt>
      <dd {...boxOf(groups)}>
        {claim === null ? 'none are read' : `by ${toShown(claim)}\n`}
        {claim === null ? null : <Foreign text={groups} />}
      </dd>
    </dl>
  );
}
