/** One principal: its properties, tokens and actions. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Me } from '../../api/me.ts';
import { deletePrincipal, principalQuery } from '../../api/people.ts';
import type { Principal } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Opening } from '../../parts/opening.tsx';
import { Problem } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { EditPrincipal } from './edit-principal.tsx';
import { GroupBadges } from './group-badges.tsx';
import { InvitationsOf } from './invitations-of.tsx';
import { Tokens } from './tokens.tsx';
import { WaysIn } from './ways-in.tsx';

interface DetailsProps {
  id: string;
  me: Me;
  onDeleted: (name: string) => void;
}

const BACK = ['/people', 'All principals'] as const;

export function PrincipalDetails({ id, me, onDeleted }: DetailsProps) {
  const found = useQuery(principalQuery(id));
  const [isEdited, setEdited] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const principal = found.data;
  const thrown = found.error ? (
    <Problem thrown={found.error} onRetry={() => void found.refetch()} />
  ) : null;
  if (!principal) return <Opening back={BACK} found={found} />;
  const endEdit = () => {
    setEdited(false);
    editButton.current?.focus();
  };
  return (
    <>
      <Heading back={BACK}>
        <Foreign text={principal.name} />
      </Heading>
      {thrown}
      <p class="actions">
        <button ref={editButton} type="button" class="quiet" onClick={() => setEdited(true)}>
          Edit
        </button>
        <Delete principal={principal} onDeleted={() => onDeleted(principal.name)} />
        <Link
          class="button quiet"
          href={`/activity?principal=${encodeURIComponent(principal.name)}`}
        >
          What it did
        </Link>
        <Link class="button quiet" href={`/why?principal=${encodeURIComponent(id)}`}>
          What it may use
        </Link>
      </p>
      {isEdited ? <EditPrincipal me={me} principal={principal} onDone={endEdit} /> : null}
      <Facts principal={principal} />
      <Tokens me={me} principal={principal} />
      <InvitationsOf principal={principal} />
      <WaysIn principal={principal} />
    </>
  );
}

interface DeleteProps {
  principal: Principal;
  onDeleted: () => void;
}

function Delete({ principal: { id, name, tokens }, onDeleted }: DeleteProps) {
  const cache = useQueryClient();
  const leave = () => {
    onDeleted();
    cache.removeQueries({ queryKey: ['principals', id] });
    void cache.invalidateQueries({ queryKey: ['principals'] });
  };
  const ends = tokens === 1 ? 'its token' : `its ${tokens} tokens`;
  return (
    <Confirm
      label="Delete"
      says={`${toShown(name)} ends and cannot be brought back, with ${ends}, its sign-ins, the programs it allowed, its accounts at servers, and the rules that are for it alone.`}
      act={() => deletePrincipal(id)}
      onDone={leave}
    />
  );
}

function Facts({ principal }: { principal: Principal }) {
  const { id, groups, claimed_groups: claimed, scopes, created_at: made } = principal;
  return (
    <dl class="facts">
      <dt>Groups</dt>
      <dd>{groups.length === 0 ? 'none' : <GroupBadges groups={groups} />}</dd>
      {claimed.length === 0 ? null : (
        <>
          <dt>By sign-in</dt>
          <dd>
            <GroupBadges groups={claimed} /> as its provider last reported
          </dd>
        </>
      )}
      <dt>Its tokens may do</dt>
      <dd>
        {scopes === null
          ? 'only the scopes of each token count'
          : `no more than ${scopes.join(' ') || 'nothing'}`}
      </dd>
      <dt>Since</dt>
      <dd>
        <Time at={made} />
      </dd>
      <dt>Id</dt>
      <dd>
        <code class="foreign">{id}</code>
      </dd>
    </dl>
  );
}
