/** The people of a team, each by a token of its own and by what it let a program have, which is to make no difference. */
import { letIn } from './let-in.ts';
import type { Person, Team } from './team.ts';

export const NAMES = ['anybody', 'one server', 'some tools', 'intern', 'reader', 'triage'];
export const WAYS = ['a token', 'a sign-in'] as const;
type Way = (typeof WAYS)[number];
/** Each of them by each way. */
export const CASES = WAYS.flatMap(way => NAMES.map(name => ({ way, name })));

/** @returns one of the team, with the token that the way gives it */
export type PersonOf = (name: string, way?: Way) => Person;

/** Lets a program in for each of the team. */
export async function letTeamIn({ people, gateway }: Team): Promise<PersonOf> {
  const letInAs = new Map<string, Person>();
  for (const person of people) {
    letInAs.set(person.name, { ...person, token: await letIn(gateway.origin, person.token) });
  }
  const byToken = new Map(people.map(person => [person.name, person]));
  return (name, way = 'a token') => {
    const found = (way === 'a token' ? byToken : letInAs).get(name);
    if (!found) throw new Error(`No person ${name}`);
    return found;
  };
}
