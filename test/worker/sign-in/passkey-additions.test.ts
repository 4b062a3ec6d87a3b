/** A passkey whose registration has one defect is not added, and the response does not say why. */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import { byMaker, bySelf } from '../support/attestation.ts';
import {
  cborBytes,
  cborMap,
  cborText,
  createAuthenticator,
  type Authenticator,
  type Wrong,
} from '../../fixtures/authenticator.ts';
import type { Browser } from '../support/browser.ts';
import {
  addPasskey,
  ask,
  createNamed,
  NAMED,
  openBrowser,
  passkeyOf,
  shownIn,
  signedIn,
} from '../support/passkeys.ts';
import { createToken } from '../support/portico.ts';
import { createOutcomes, WRONG } from '../support/wrong-answers.ts';

const portico = createNamed();
const outcomeOf = createOutcomes();
let token: string;
let owner: Browser;
let known: Authenticator;

beforeAll(async () => {
  ({ token } = await createToken(portico, { name: 'Ada' }));
  owner = await signedIn(portico, token);
  known = await passkeyOf(portico, token);
});

const count = async () =>
  (await env.DB.prepare('SELECT count(*) AS n FROM passkeys').first<number>('n')) ?? -1;

/** A statement with a certificate. */
const withCertificate = (format: string): Wrong => ({
  format,
  statement: cborMap(
    [cborText('alg'), Uint8Array.of(0x26)],
    [cborText('sig'), cborBytes(new Uint8Array(70))],
    [cborText('x5c'), Uint8Array.of(0x81, 0x41, 0)],
  ),
});

it.each<[string, Wrong]>([
  ...WRONG.map(([what, wrong]): [string, Wrong] =>
    wrong.type ? [what, { type: 'webauthn.get' }] : [what, wrong],
  ),
  ['another id than the one that is attested', { id: 'A'.repeat(43) }],
  ['a statement where there is none', { statement: cborMap([cborText('x'), cborText('y')]) }],
  ['a format that nobody knows', { format: 'mine' }],
  ['a certificate', withCertificate('packed')],
  ['a certificate of a chip', withCertificate('tpm')],
  ['a certificate of a phone', withCertificate('apple')],
  [
    'a signature of its own that is wrong',
    {
      format: 'packed',
      statement: cborMap(
        [cborText('alg'), Uint8Array.of(0x26)],
        [cborText('sig'), cborBytes(new Uint8Array(70))],
      ),
    },
  ],
  ['no attestation', { attestation: Uint8Array.of(0xa0) }],
  ['an attestation that is a number', { attestation: Uint8Array.of(1) }],
  ['an attestation that never ends', { attestation: new Uint8Array(5_900).fill(0x81) }],
  ['an attestation of four billion', { attestation: Uint8Array.of(0x9a, 255, 255, 255, 255, 0) }],
  ['an attestation that is long', { attestation: new Uint8Array(7_000) }],
])('[ACC-7] [SEC-5] adding is refused for %s', async (_, wrong) => {
  const before = await count();
  const authenticator = await createAuthenticator();
  const fetched = vi.spyOn(globalThis, 'fetch');
  const added = await addPasskey(owner, authenticator, { wrong });
  expect(fetched).not.toHaveBeenCalled();
  fetched.mockRestore();
  expect(await outcomeOf(added)).toBe('refused');
  expect(await count()).toBe(before);
  expect((await addPasskey(owner, authenticator)).status).toBe(303);
  await env.DB.prepare('DELETE FROM passkeys WHERE credential_id = ?').bind(authenticator.id).run();
});

it('[ACC-7] [SEC-5] adding is refused even for a valid certificate, but accepts self attestation', async () => {
  const [authenticator, maker] = [await createAuthenticator(), await createAuthenticator()];
  const certified = { format: 'packed', attest: byMaker(maker, maker.publicKey) };
  const browser = await signedIn(portico, (await createToken(portico)).token);
  const refused = await addPasskey(browser, authenticator, { wrong: certified });
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('This passkey cannot be added'),
  ]);
  const own = { format: 'packed', attest: bySelf(authenticator) };
  expect((await addPasskey(browser, authenticator, { wrong: own })).status).toBe(303);
});

it('[ACC-7] [SEC-5] adding is refused for one that exists, whoever adds it', async () => {
  const other = await signedIn(portico, (await createToken(portico)).token);
  for (const browser of [owner, other]) {
    const before = await count();
    const added = await addPasskey(browser, known);
    expect([added.status, await count()]).toEqual([403, before]);
    expect(await added.text()).toContain('This passkey cannot be added');
  }
  expect(await shownIn(other)).toBe('test');
});

it('[ACC-7] [SEC-5] is bound to the sign-in that asked, for five minutes, and requires one', async () => {
  const authenticator = await createAuthenticator();
  const other = await signedIn(portico, token);
  const passkeyCookie = (browser: Browser) =>
    browser.cookie.split('; ').find(pair => pair.startsWith('portico-sign-in-passkey')) ?? '';
  const asked = await ask(other, '/sign-in/passkeys/start');
  const answer = await authenticator.add(asked, NAMED);
  const own = owner.cookie;
  owner.cookie = `${own.split('; ')[0]}; ${passkeyCookie(other)}`;
  expect(await outcomeOf(await owner.post('/sign-in/passkeys', { answer }))).toBe('refused');
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 300_001);
  expect(await outcomeOf(await other.post('/sign-in/passkeys', { answer }))).toBe('refused');
  clock.mockRestore();
  const nobody = openBrowser(portico);
  const led = await nobody.post('/sign-in/passkeys', { answer });
  expect([led.status, led.headers.get('location')]).toEqual([
    303,
    '/sign-in?return=%2Fsign-in%2Fpasskeys',
  ]);
  expect((await nobody.post('/sign-in/passkeys/start', {})).status).toBe(403);
  expect((await nobody.post('/sign-in/passkeys/remove', { id: 'x' })).status).toBe(303);
  expect((await nobody.get('/sign-in/passkeys')).status).toBe(303);
});
