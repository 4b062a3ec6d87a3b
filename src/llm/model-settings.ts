/** The settings of a deployment that say which language model it has, how it is reached and how much it may be used. */
import { z } from 'zod';

export interface ModelEnv {
  /** Address of an OpenAI-compatible API, up to `/v1`; with PORTICO_MODEL there is a model. */
  PORTICO_MODEL_URL?: string;
  PORTICO_MODEL?: string;
  /** Key of that API: a secret. */
  PORTICO_MODEL_KEY?: string;
  PORTICO_MODEL_TIMEOUT_MS?: string;
  PORTICO_MODEL_CALLS_PER_DAY?: string;
  PORTICO_MODEL_TOKENS_PER_DAY?: string;
}

/** How a language model is reached, and how much it may be used. */
export interface ModelSettings {
  readonly url: string;
  readonly name: string;
  readonly key: string | undefined;
  /** Longest time of one request, in milliseconds. */
  readonly timeoutMs: number;
  /** What a day of UTC allows for one purpose. */
  readonly perDay: { readonly calls: number; readonly tokens: number };
}

/** The members of the settings' schema. */
export const MODEL_SETTINGS = {
  PORTICO_MODEL_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  PORTICO_MODEL: z.string().max(200).default(''),
  PORTICO_MODEL_KEY: z.string().max(4_096).default(''),
  PORTICO_MODEL_TIMEOUT_MS: z.coerce.number().int().min(1).max(86_400_000).default(20_000),
  PORTICO_MODEL_CALLS_PER_DAY: z.coerce.number().int().min(0).max(10_000_000).default(2_000),
  PORTICO_MODEL_TOKENS_PER_DAY: z.coerce.number().int().min(0).max(1e12).default(5_000_000),
};
const SettingsSchema = z.object(MODEL_SETTINGS);

/**
 * The model of a deployment; undefined where it has none.
 * @throws Error that names the settings that do not go together
 */
export function toModelSettings(
  settings: z.infer<typeof SettingsSchema>,
  localMode: boolean,
): ModelSettings | undefined {
  const { PORTICO_MODEL_URL: url, PORTICO_MODEL: name } = settings;
  if (url === '' && name === '') return undefined;
  if (url === '' || name === '') {
    throw new Error('Settings PORTICO_MODEL_URL and PORTICO_MODEL: both or neither');
  }
  if (!localMode && !url.startsWith('https:')) {
    throw new Error('Setting PORTICO_MODEL_URL: must be https');
  }
  return {
    url,
    name,
    key: settings.PORTICO_MODEL_KEY || undefined,
    timeoutMs: settings.PORTICO_MODEL_TIMEOUT_MS,
    perDay: {
      calls: settings.PORTICO_MODEL_CALLS_PER_DAY,
      tokens: settings.PORTICO_MODEL_TOKENS_PER_DAY,
    },
  };
}
