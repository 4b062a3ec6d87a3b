/**
 * People: principals with their groups and tokens, invitations, and sign-in providers. The open page is in the address: `?principal=ID`,
 * `?add=principal`, `?name=…&group=…`, `?tab=invitations`, `?tab=providers` with `&provider=ID` or `&add=provider`.
 */
import { useSearchParams } from 'wouter-preact';
import type { ViewProps } from '../view-props.ts';
import { AddPrincipal } from './people/add-principal.tsx';
import { Invitations } from './people/invitations.tsx';
import './people/people.css';
import { PrincipalDetails } from './people/principal-details.tsx';
import { PrincipalList } from './people/principal-list.tsx';
import { Providers } from './people/providers.tsx';

export default function People({ me }: ViewProps) {
  const [search] = useSearchParams();
  const id = search.get('principal');
  if (id !== null) return <PrincipalDetails key={id} id={id} me={me} />;
  if (search.get('add') === 'principal') return <AddPrincipal me={me} />;
  if (search.get('tab') === 'invitations') return <Invitations />;
  if (search.get('tab') === 'providers') return <Providers />;
  return <PrincipalList />;
}
