/** The closing text of a start: which token it shows to whom. */
import { expect, it } from 'vitest';
import { toReadyText } from '../../../local/ready-text.ts';

const MEMBER = `portico_${'m'.repeat(43)}`;
const ADMIN = `portico_${'a'.repeat(43)}`;

const textOf = (isTokenUnseen: boolean, memberToken?: string, signInLink?: string): string =>
  toReadyText({
    origin: 'http://127.0.0.1:8787',
    secrets: { adminToken: ADMIN, isTokenUnseen, file: '/data/secrets.json' },
    memberToken,
    signInLink,
    dataDir: '.portico',
    steps: { style: (_how, text) => text },
  });
const snippetsOf = (text: string) => text.slice(text.indexOf('Claude Code'));

it("[OPS-3] [ACC-2] gives clients the member's token at the first start", () => {
  const text = textOf(true, MEMBER);
  expect(text).toContain(ADMIN);
  expect(snippetsOf(text)).toContain(MEMBER);
  expect(snippetsOf(text)).not.toContain(ADMIN);
});

it("[OPS-3] [ACC-2] refers to the member's token at later starts, without showing it", () => {
  const text = textOf(false, MEMBER);
  expect(text).toContain(`export PORTICO_TOKEN=$(node -p 'JSON.parse(`);
  expect(text).toContain('.memberToken');
  expect(text).not.toContain('.adminToken');
  expect(text).not.toContain('portico_');
});

it("[OPS-3] [ACC-2] gives clients no token if the member's was revoked", () => {
  const text = textOf(false, undefined);
  expect(text).toContain('The one for clients was revoked');
  expect(text).toContain('export PORTICO_TOKEN=…');
  expect(text).not.toContain(').adminToken');
});

it.each([true, false])(
  '[OPS-3] [OPS-1] shows the addresses for clients and people (first start: %s)',
  isFirst => {
    const lines = textOf(isFirst, MEMBER).split('\n');
    expect(lines).toContain('Portico is ready  http://127.0.0.1:8787/mcp');
    expect(lines).toContain('Its console       http://127.0.0.1:8787/console');
  },
);

it('[OPS-1] shows a person at a terminal the link that signs them in to the console', () => {
  const link = 'http://127.0.0.1:8787/sign-in?return=/console#code';
  const lines = textOf(false, MEMBER, link).split('\n');
  expect(lines).toContain(`Its console       ${link}`);
  expect(lines).toContain('                  The address signs you in once, within an hour.');
});
