/**
 * The people of a team, each with their own token and with the token of a program that they authorised; the two must make no difference.
 */
import { letIn } from './let-in.ts';
import type { Person, Team } from './team.ts';

export const NAMES = ['anybody', 'one server', 'some tools', 'intern', 'reader', 'triage'];
export const WAYS = ['a token', 'a sign-in'] as const;
type Way = (typeof WAYS)[number];
/** Each person with each kind of token. */
export const CASES = WAYS.flatMap(way => NAMES.map(name => ({ way, name })));

/** @returns a person of the team, with the token of this way */
export type PersonOf = (name: string, way?: Way) => Person;

/** Authorises a program for each person of the team. */
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
