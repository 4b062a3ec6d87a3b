/** A passkey's answer with one defect signs nobody in, and the response does not say why. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createAuthenticator,
  type Authenticator,
  type Wrong,
} from '../../fixtures/authenticator.ts';
import type { Browser } from '../support/browser.ts';
import {
  ask,
  createNamed,
  NAMED,
  openBrowser,
  passkeyOf,
  signedIn,
  signInBy,
} from '../support/passkeys.ts';
import { createToken } from '../support/portico.ts';
import { createOutcomes, WRONG } from '../support/wrong-answers.ts';

const portico = createNamed();
let token: string;
let owner: Browser;
let known: Authenticator;
let stranger: Authenticator;

beforeAll(async () => {
  ({ token } = await createToken(portico, { name: 'Ada' }));
  owner = await signedIn(portico, token);
  known = await passkeyOf(portico, token, { counts: true });
  stranger = await createAuthenticator();
});

const outcomeOf = createOutcomes();
const count = async (table: string) =>
  (await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')) ?? -1;

describe('signing in', () => {
  it.each<[string, Wrong]>([
    ...WRONG,
    ['a counter that begins anew', { counter: 0 }],
    ['another user', { userHandle: btoa('nobody') }],
    ['no user', { userHandle: '' }],
    ['an id that nobody registered', { id: 'A'.repeat(43) }],
    ['the same id, written otherwise', { id: 'padded' }],
  ])('[ACC-7] [SEC-5] is refused for %s', async (_, wrong) => {
    const browser = openBrowser(portico);
    const before = await count('sign_ins');
    const own = wrong.id === 'padded' ? { ...wrong, id: `${known.id}=` } : wrong;
    expect(await outcomeOf(await signInBy(browser, known, own))).toBe('refused');
    expect([browser.cookie, await count('sign_ins')]).toEqual(['', before]);
    expect((await signInBy(browser, known)).status).toBe(303);
  });

  it('[ACC-7] [SEC-5] is refused for the signature of another key', async () => {
    expect(await outcomeOf(await signInBy(openBrowser(portico), known, { signer: stranger }))).toBe(
      'refused',
    );
    expect(await outcomeOf(await signInBy(openBrowser(portico), stranger))).toBe('refused');
  });

  it('[ACC-7] [SEC-5] is refused for a counter that goes back', async () => {
    expect(await outcomeOf(await signInBy(openBrowser(portico), known, { counter: 1 }))).toBe(
      'refused',
    );
    const browser = openBrowser(portico);
    expect((await signInBy(browser, known, { counter: 5_000 })).status).toBe(303);
    expect(await outcomeOf(await signInBy(browser, known, { counter: 5_000 }))).toBe('refused');
    expect((await signInBy(browser, known, { counter: 5_001 })).status).toBe(303);
    await env.DB.prepare('UPDATE passkeys SET counter = 0').run();
  });

  it.each([true, false])(
    '[ACC-7] [SEC-5] accepts an answer once, also of two at once; counting: %s',
    async counts => {
      const authenticator = await passkeyOf(portico, token, { counts });
      const browser = openBrowser(portico);
      const asked = await ask(browser, '/sign-in/passkey/start');
      const { cookie } = browser;
      const answer = await authenticator.signIn(asked, NAMED);
      const send = async () => {
        const replaying = openBrowser(portico);
        replaying.cookie = cookie;
        return replaying.post('/sign-in/passkey', { answer });
      };
      const before = await count('sign_ins');
      const two = await Promise.all([send(), send()]);
      expect(two.map(({ status }) => status).toSorted()).toEqual([303, 403]);
      expect(await outcomeOf(await send())).toBe('refused');
      expect(await count('sign_ins')).toBe(before + 1);
      expect((await signInBy(browser, authenticator)).status).toBe(303);
      // Its counter is older than that of a later answer.
      expect(await outcomeOf(await send())).toBe('refused');
    },
  );

  it("[ACC-7] [SEC-5] is refused without the cookie, with another's, and after five minutes", async () => {
    const browser = openBrowser(portico);
    const answerTo = async () => known.signIn(await ask(browser, '/sign-in/passkey/start'), NAMED);
    const send = async (answer: string, cookie: string) => {
      browser.cookie = cookie;
      return browser.post('/sign-in/passkey', { answer });
    };
    expect(await outcomeOf(await send(await answerTo(), ''))).toBe('refused');
    expect(await outcomeOf(await send(await answerTo(), 'portico-sign-in-passkey=x.y'))).toBe(
      'refused',
    );
    expect(
      await outcomeOf(await send(await answerTo(), `portico-sign-in-passkey=${'x'.repeat(5_000)}`)),
    ).toBe('refused');
    await ask(owner, '/sign-in/passkeys/start');
    const forAdding = owner.cookie.split('; ').find(pair => pair.includes('passkey')) ?? '';
    expect(await outcomeOf(await send(await answerTo(), forAdding))).toBe('refused');
    const answer = await answerTo();
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 300_001);
    expect(await outcomeOf(await browser.post('/sign-in/passkey', { answer }))).toBe('refused');
    clock.mockRestore();
  });

  it('[ACC-7] [SEC-4] is refused for a malformed answer', async () => {
    const right = JSON.parse(
      await known.signIn(await ask(openBrowser(portico), '/sign-in/passkey/start'), NAMED),
    ) as { response: Record<string, string> };
    const changed = (response: object) =>
      JSON.stringify({ ...right, response: { ...right.response, ...response } });
    const answers = [
      '',
      '{',
      'null',
      '[]',
      '{}',
      JSON.stringify({ ...right, response: null }),
      JSON.stringify({ ...right, response: 'x' }),
      `${'['.repeat(7_000)}`,
      changed({ authenticatorData: '' }),
      changed({ authenticatorData: 'AAAA' }),
      changed({ authenticatorData: [1] }),
      changed({ signature: 'AA' }),
      changed({ signature: 'MAA' }),
      changed({ clientDataJSON: 'AAAA' }),
      changed({ clientDataJSON: btoa('null').replaceAll('=', '') }),
      changed({ clientDataJSON: btoa('{"type":"webauthn.get"}').replaceAll('=', '') }),
      'x'.repeat(17_000),
    ];
    for (const answer of answers) {
      const browser = openBrowser(portico);
      await ask(browser, '/sign-in/passkey/start');
      expect(await outcomeOf(await browser.post('/sign-in/passkey', { answer }))).toBe('refused');
    }
    const huge = await openBrowser(portico).post('/sign-in/passkey', {
      answer: 'x'.repeat(60_000),
    });
    expect(huge.status).toBe(413);
  });
});

it('[ACC-7] [SEC-5] accepts forms of its own pages only', async () => {
  const paths = ['passkey', 'passkey/start', 'passkeys', 'passkeys/start', 'passkeys/remove'];
  for (const path of paths.map(each => `/sign-in/${each}`)) {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999']) {
      const sent = await owner.post(path, { answer: '', id: '' }, { origin });
      expect([path, origin, sent.status]).toEqual([path, origin, 403]);
      expect(sent.headers.get('set-cookie')).toBeNull();
    }
  }
  expect((await owner.get('/sign-in/passkey')).status).toBe(405);
});
