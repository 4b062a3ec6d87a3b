/** Checks that everything the gateway keeps sealed is under a key that it still has. */
import { lostKeys, PUT_BACK, type KeyUse } from '../../../src/credentials/lost-keys.ts';
import type { Api } from '../gateway/api.ts';
import { failed, ok, skipped, type Finding } from './finding.ts';

/** @param api with a token that may read the keys */
export async function checkKeys(api: Api): Promise<Finding[]> {
  const response = await api.send('GET', '/api/v1/keys');
  if (!response.ok) {
    await response.body?.cancel();
    return [skipped('keys', `the gateway does not report them (${response.status})`)];
  }
  const { keys, active } = (await response.json()) as { active: string; keys?: KeyUse[] };
  // A gateway of another version may return something else.
  if (!keys) return [skipped('keys', 'the gateway does not report them')];
  const lost = lostKeys(keys);
  if (lost.length === 0 && (await isUnfit(api))) {
    const what = `${active} is active, and opens nothing of what is stored: it is another key of that name`;
    return [failed('keys', what, PUT_BACK)];
  }
  if (lost.length === 0)
    return [ok('keys', `${active} is active; everything stored can be opened`)];
  return lost.map(line => failed('keys', line, PUT_BACK));
}

/** Whether the gateway tried its keys in vain. Their ids say nothing of that: every first key is k1. */
async function isUnfit(api: Api): Promise<boolean> {
  const response = await api.send('GET', '/health/ready');
  const text = await response.text();
  return response.status === 503 && text.includes('"keys_unfit"');
}
