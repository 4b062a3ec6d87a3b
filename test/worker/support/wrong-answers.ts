/** Answers of authenticators with one defect, and whether they are all refused with the same words. */
import type { Wrong } from '../../fixtures/authenticator.ts';

/** Defects that an answer for a sign-in and one for a registration share. */
export const WRONG: readonly [string, Wrong][] = [
  ['another type', { type: 'webauthn.create' }],
  ['another challenge', { challenge: 'A'.repeat(43) }],
  ['another origin', { origin: 'https://localhost:8787' }],
  ['the same host at another port', { origin: 'http://localhost:8788' }],
  ['a page of others that frames ours', { topOrigin: 'https://evil.example' }],
  ['a frame of another origin', { crossOrigin: true }],
  ['another host', { rpId: 'evil.example' }],
  ['a host below ours', { rpId: 'a.localhost' }],
  ['a user who is not there', { flags: 4 }],
  ['a user who was not verified', { flags: 1 }],
  ['a copy of a key that has no copies', { flags: 5 | 16 }],
  ['bytes behind the data', { trailing: [0] }],
  ['another kind of credential', { credentialType: 'password' }],
  ['two ids', { rawId: 'AAAA' }],
];

/** Returns `refused` for each answer with exactly the page of the first refusal, else the answer itself. */
export function createOutcomes(): (answer: Response) => Promise<string> {
  let refusal: string | undefined;
  return async answer => {
    const seen = `${answer.status} ${await answer.text()}`;
    refusal ??= seen;
    return answer.status === 403 && seen === refusal ? 'refused' : seen;
  };
}
