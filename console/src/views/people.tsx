/**
 * People: principals with their groups and tokens, invitations, and sign-in providers. The open page is in the address: `?principal=ID`,
 * `?add=principal`, `?name=…&group=…`, `?tab=invitations`, `?tab=providers` with `&provider=ID` or `&add=provider`.
 */
import { useLocation, useSearchParams } from 'wouter-preact';
import { toShown } from '../parts/foreign.tsx';
import { useTelling } from '../parts/told.tsx';
import type { ViewProps } from '../view-props.ts';
import { AddPrincipal } from './people/add-principal.tsx';
import { Invitations } from './people/invitations.tsx';
import './people/people.css';
import { PrincipalDetails } from './people/principal-details.tsx';
import { PrincipalList } from './people/principal-list.tsx';
import { Providers } from './people/providers.tsx';

export default function People({ me }: ViewProps) {
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const id = search.get('principal');
  const [telling, tell] = useTelling(
    search.has('principal') || search.has('add') || search.has('tab'),
  );
  const onDeleted = (name: string) => {
    tell(`${toShown(name, 100)} is deleted.`);
    go('/people');
  };
  if (id !== null) return <PrincipalDetails key={id} id={id} me={me} onDeleted={onDeleted} />;
  if (search.get('add') === 'principal') return <AddPrincipal me={me} />;
  if (search.get('tab') === 'invitations') return <Invitations />;
  if (search.get('tab') === 'providers') return <Providers />;
  return <PrincipalList telling={telling} />;
}
