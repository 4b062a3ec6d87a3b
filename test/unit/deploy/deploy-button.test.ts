/** What Cloudflare's deploy button reads from this repository: the secrets it asks for, and the description of each binding. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseWorkerConfig } from '../../../local/worker-config.ts';
import { REQUIRED_SECRETS } from '../../../deploy/wrangler-config.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const asked = read('.dev.vars.example')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => line.split('='));

it('[OPS-4] [SEC-1] asks for the required secrets, and suggests no value that would be accepted', () => {
  expect(asked.map(([name]) => name)).toEqual(REQUIRED_SECRETS);
  for (const [, suggestion] of asked) expect(() => createKeyRing(suggestion)).toThrow(/PORTICO/);
});

it('[OPS-4] describes each secret and each store', () => {
  const { cloudflare, scripts } = JSON.parse(read('package.json')) as {
    cloudflare: { bindings: Record<string, { description: string }> };
    scripts: Record<string, string>;
  };
  const { databases, namespaces } = parseWorkerConfig(read('wrangler.toml'));
  const said = Object.keys(cloudflare.bindings);
  expect(said).toEqual(
    expect.arrayContaining([...REQUIRED_SECRETS, ...Object.keys(databases), ...namespaces]),
  );
  // The button runs these two scripts.
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['build', 'deploy']));
});

it('[OPS-4] contains nobody’s resource ids', () => {
  expect(read('wrangler.toml')).not.toMatch(/database_id|^id =/m);
});
