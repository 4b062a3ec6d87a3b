/** Which secrets a credential uses. */
import { expect, it } from 'vitest';
import { NO_CREDENTIAL } from '../../../src/credentials/credential-schema.ts';
import { OpenedCredentials } from '../../../src/credentials/opened-credentials.ts';
import { sealCredential } from '../../../src/credentials/sealed-credential.ts';
import { secretPlace } from '../../../src/credentials/secret-schema.ts';
import { sealEnvelope } from '../../../src/shared/crypto/envelope.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';

const keys = createKeyRing(btoa('k'.repeat(32)));

it('[UP-4] [SEC-1] does not use a secret whose reference is escaped', async () => {
  const server = { id: 'a', url: 'https://a.example.com/mcp' };
  const place = { name: 'KEY', origins: ['https://login.example.com'] };
  const auth = {
    type: 'client_credentials',
    client_id: 'gateway',
    client_secret: '${KEY}',
    token_url: 'https://login.example.com/token',
  } as const;
  const credential = {
    ...NO_CREDENTIAL,
    headersSealed: await sealCredential(keys, server, 'headers', { 'X-Form': 'write $${KEY}' }),
    authSealed: await sealCredential(keys, server, 'auth', auth),
    secrets: [
      { ...place, sealed: await sealEnvelope(keys, 'value', secretPlace(place)), revision: 1 },
    ],
  };
  const opened = await new OpenedCredentials(keys).of({ ...server, credential });
  expect(opened.headers).toEqual({ 'x-form': 'write ${KEY}' });
});
