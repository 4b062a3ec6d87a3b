/** The name of a budget's subject. */
import { useQuery } from '@tanstack/preact-query';
import { principalQuery } from '../../api/people.ts';
import type { Budget } from '../../generated/types.gen.ts';

/** Undefined while it is loading. */
export function useSubjectName({ subject }: Pick<Budget, 'subject'>): string | undefined {
  const isPrincipal = subject.kind === 'principal';
  const principal = useQuery(principalQuery(isPrincipal ? subject.id : '')).data;
  return isPrincipal ? principal?.name : `everybody in ${subject.name}`;
}
