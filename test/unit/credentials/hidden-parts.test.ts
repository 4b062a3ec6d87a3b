/** What is redacted of a header with a credential, in the form in which a server would repeat it. */
import { expect, it } from 'vitest';
import { hiddenInHeaders } from '../../../src/credentials/hidden-parts.ts';

it.each([
  ['pass:word', 'utf8'],
  ['pässwörd', 'utf8'],
  ['pässwörd', 'latin1'],
  ['密码', 'utf8'],
] as const)('[SEC-2] the password %s of Basic is hidden, in %s', (password, encoding) => {
  const sent = Buffer.from(`ada:${password}`, encoding).toString('base64');
  const hidden = hiddenInHeaders({ authorization: `Basic ${sent}` });
  expect(hidden).toEqual(expect.arrayContaining([sent, `ada:${password}`, password]));
});
