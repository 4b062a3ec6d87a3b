/**
 * People: principals with their groups and tokens, invitations, and providers by which people sign in. What is open is in the address:
 * `?principal=ID`, `?add=principal`, `?name=…&group=…`.
 */
import { useSearchParams } from 'wouter-preact';
import type { ViewProps } from '../view-props.ts';
import { AddPrincipal } from './people/add-principal.tsx';
import './people/people.css';
import { PrincipalDetails } from './people/principal.tsx';
import { PrincipalList } from './people/principal-list.tsx';

export default function People({ me }: ViewProps) {
  const [search] = useSearchParams();
  const id = search.get('principal');
  if (id !== null) return <PrincipalDetails key={id} id={id} me={me} />;
  if (search.get('add') === 'principal') return <AddPrincipal me={me} />;
  return <PrincipalList />;
}
