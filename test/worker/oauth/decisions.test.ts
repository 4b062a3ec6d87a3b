/** How a person's decision about a program reaches the program, whatever a browser allows after a form. */
import { expect, it } from 'vitest';
import { answerIn, authorizePath, createClient, decide, signIn } from '../support/oauth-client.ts';
import { createPortico, createToken } from '../support/portico.ts';

const portico = createPortico();

it.each([
  'https://program.example.com/callback',
  'http://127.0.0.1:4711/callback',
  'http://[::1]:4711/callback',
])('[ACC-5] a program at %s is reached by a page that says what was decided', async callback => {
  const clientId = await createClient(crypto.randomUUID(), [callback]);
  const { token } = await createToken(portico);
  const browser = await signIn(portico, token);
  for (const [decision, heading] of [
    ['deny', '<h1>Not allowed</h1>'],
    ['allow', '<h1>Allowed</h1>'],
  ] as const) {
    const asked = await browser.get(authorizePath(clientId, { redirect_uri: callback }));
    const answer = await decide(browser, await asked.text(), decision);
    expect(await answer.clone().text()).toContain(heading);
    expect((await answerIn(answer)).get('state')).toBe('a state');
  }
});

it('[ACC-5] an app is reached by a redirect, which the policy of the page names', async () => {
  const callback = 'cursor://anysphere.cursor-mcp/oauth/callback';
  const clientId = await createClient(crypto.randomUUID(), [callback]);
  const browser = await signIn(portico, (await createToken(portico)).token);
  const asked = await browser.get(authorizePath(clientId, { redirect_uri: callback }));
  expect(asked.headers.get('content-security-policy')).toContain("form-action 'self' cursor:;");
  const answer = await decide(browser, await asked.text(), 'allow');
  expect(answer.headers.get('location')?.startsWith(`${callback}?code=`)).toBe(true);
});
