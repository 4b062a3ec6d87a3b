/** What is read of a Worker that exists. */
import { expect, it } from 'vitest';
import type { Cloudflare } from '../../../deploy/cloudflare.ts';
import { findDeployment } from '../../../deploy/find-deployment.ts';
import { readOptions } from '../../../deploy/options.ts';
import { toTarget } from '../../../deploy/target.ts';

const target = toTarget(readOptions([]), { name: 'portico' }, {});

/** An account that has nothing but the bindings of a Worker. */
const accountWith = (bindings: object[] | undefined): Cloudflare => ({
  request: async () => [],
  find: async (_, path) => (path.endsWith('/settings') && bindings ? { bindings } : undefined),
});

it('[OPS-4] reads the names of its secrets, and its variables', async () => {
  const found = await findDeployment(
    accountWith([
      { type: 'durable_object_namespace', name: 'CLIENT_SESSION' },
      { type: 'secret_text', name: 'PORTICO_KEYS' },
      { type: 'plain_text', name: 'PORTICO_POSTURE', text: 'closed' },
      { type: 'json', name: 'PORTICO_PAGE_SIZE', json: 50 },
    ]),
    'a',
    target,
  );
  expect(found).toEqual({
    worker: {
      secrets: ['PORTICO_KEYS'],
      variables: { PORTICO_POSTURE: 'closed', PORTICO_PAGE_SIZE: 50 },
    },
  });
  expect(await findDeployment(accountWith(undefined), 'a', target)).toEqual({});
});
