/** Checks the gateway's language model: whether it has one, whether the model accepts the key, and whether budget is left today. */
import type { ModelView } from '../../../src/models/usage-schema.ts';
import type { Api } from '../gateway/api.ts';
import { failed, ok, skipped, type Finding } from './finding.ts';

/** Problems that do not pass by themselves, and the settings to check. */
const LASTING: Readonly<Record<string, string>> = {
  auth: 'PORTICO_MODEL_KEY',
  no_key: 'PORTICO_MODEL_KEY and the origins of the secret it names',
  no_binding: 'the binding AI of the Worker',
  not_found: 'PORTICO_MODEL, PORTICO_MODEL_EMBED, PORTICO_MODEL_API and PORTICO_MODEL_URL',
};

/** @param api with a token that may read the model's state */
export async function checkModel(api: Api): Promise<Finding[]> {
  const response = await api.send('GET', '/api/v1/model');
  if (!response.ok) {
    await response.body?.cancel();
    return [skipped('model', `the gateway does not report it (${response.status})`)];
  }
  const { model, usage } = (await response.json()) as ModelView;
  if (!model) return [skipped('model', 'the gateway has none: it does not need one')];
  const bad = usage.flatMap(({ purpose, calls, tokens, last_problem: problem }) => {
    const check = `model for ${purpose}`;
    const settings = LASTING[problem ?? ''];
    if (settings !== undefined) return [failed(check, `${problem}`, `see ${settings}`)];
    if (calls < model.calls_per_day && tokens < model.tokens_per_day) return [];
    const advice = 'wait until tomorrow (UTC), or raise PORTICO_MODEL_CALLS_PER_DAY';
    return [failed(check, 'its budget for today is used up', advice)];
  });
  const calls = usage.reduce((sum, one) => sum + one.calls, 0);
  return bad.length > 0 ? bad : [ok('model', `${model.name}; ${calls} calls today`)];
}
