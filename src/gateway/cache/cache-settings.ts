/** The settings of a deployment that bound its cache of results. */
import { z } from 'zod';

export interface CacheSettings {
  /** All results together, in bytes. */
  readonly maxBytes: number;
  /** The largest result that is kept, in bytes. */
  readonly maxResultBytes: number;
}

/** The members of the settings' schema. Sealed a result takes four thirds of its size, and a row of an object 2 MB at most. */
export const CACHE_SETTINGS = {
  PORTICO_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(1_048_576)
    .max(2 ** 33)
    .default(67_108_864),
  PORTICO_CACHE_RESULT_BYTES: z.coerce.number().int().min(1_024).max(1_048_576).default(262_144),
};
const SettingsSchema = z.object(CACHE_SETTINGS);

export function toCacheSettings(settings: z.infer<typeof SettingsSchema>): CacheSettings {
  return {
    maxBytes: settings.PORTICO_CACHE_BYTES,
    maxResultBytes: settings.PORTICO_CACHE_RESULT_BYTES,
  };
}
