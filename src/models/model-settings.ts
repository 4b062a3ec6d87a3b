/** The deployment's settings for its language model: which it is, how it is reached, what it costs and how much it may be used. */
import { z } from 'zod';

export const MODEL_APIS = [
  'openai',
  'openai-responses',
  'anthropic',
  'gemini',
  'workers-ai',
] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** How the language model is reached, and how much it may be used. */
export interface ModelSettings {
  readonly api: ModelApi;
  /** Undefined for the provider's own address. */
  readonly url: string | undefined;
  readonly name: string;
  /** As set; may name a secret. */
  readonly key: string | undefined;
  readonly embedModel: string | undefined;
  /** Longest time without any data from the model, in milliseconds. */
  readonly timeoutMs: number;
  /** US dollars per million tokens; undefined where not set. */
  readonly prices: { readonly input: number; readonly output: number } | undefined;
  /** What one day (UTC) allows for one purpose. */
  readonly perDay: { readonly calls: number; readonly tokens: number };
}

const price = z.union([z.literal(''), z.coerce.number().min(0).max(1_000_000)]).default('');

/** The model's members of the settings schema. */
export const MODEL_SETTINGS = {
  PORTICO_MODEL_API: z.enum(['', ...MODEL_APIS]).default(''),
  PORTICO_MODEL_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  PORTICO_MODEL: z.string().max(200).default(''),
  PORTICO_MODEL_KEY: z.string().max(4_096).default(''),
  PORTICO_MODEL_EMBED: z.string().max(200).default(''),
  PORTICO_MODEL_TIMEOUT_MS: z.coerce.number().int().min(1).max(86_400_000).default(60_000),
  PORTICO_MODEL_CALLS_PER_DAY: z.coerce.number().int().min(0).max(10_000_000).default(2_000),
  PORTICO_MODEL_TOKENS_PER_DAY: z.coerce.number().int().min(0).max(1e12).default(5_000_000),
  PORTICO_MODEL_PRICE_INPUT: price,
  PORTICO_MODEL_PRICE_OUTPUT: price,
};
const SettingsSchema = z.object(MODEL_SETTINGS);
type Settings = z.infer<typeof SettingsSchema>;

/**
 * Returns the deployment's model settings; undefined where it has no model.
 * @throws Error that names the conflicting settings
 */
export function toModelSettings(
  settings: Settings,
  allowsLoopback: boolean,
): ModelSettings | undefined {
  const { PORTICO_MODEL_API: api, PORTICO_MODEL_URL: url, PORTICO_MODEL: name } = settings;
  if (api === '' && url === '' && name === '') return undefined;
  if (api === '' && (url === '' || name === '')) {
    throw new Error('Settings PORTICO_MODEL_URL and PORTICO_MODEL: both or neither');
  }
  if (name === '') {
    throw new Error('Settings PORTICO_MODEL_API and PORTICO_MODEL: an API needs a model');
  }
  if (!allowsLoopback && url !== '' && !url.startsWith('https:')) {
    throw new Error('Setting PORTICO_MODEL_URL: must be https');
  }
  return {
    api: api || 'openai',
    url: url || undefined,
    name,
    key: settings.PORTICO_MODEL_KEY || undefined,
    embedModel: settings.PORTICO_MODEL_EMBED || undefined,
    timeoutMs: settings.PORTICO_MODEL_TIMEOUT_MS,
    prices: toPrices(settings),
    perDay: {
      calls: settings.PORTICO_MODEL_CALLS_PER_DAY,
      tokens: settings.PORTICO_MODEL_TOKENS_PER_DAY,
    },
  };
}

function toPrices(settings: Settings): ModelSettings['prices'] {
  const { PORTICO_MODEL_PRICE_INPUT: input, PORTICO_MODEL_PRICE_OUTPUT: output } = settings;
  if (input === '' && output === '') return undefined;
  if (input === '' || output === '') {
    throw new Error(
      'Settings PORTICO_MODEL_PRICE_INPUT and PORTICO_MODEL_PRICE_OUTPUT: both or neither',
    );
  }
  return { input, output };
}
