/** The settings of a deployment that bound its result cache. */
import { z } from 'zod';

/** Members of the settings' schema. A sealed result takes 4/3 of its size, and a row of an object holds 2 MB at most. */
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

export const toCacheSettings = (settings: z.infer<typeof SettingsSchema>) => ({
  /** Limit for all results together, in bytes. */
  maxBytes: settings.PORTICO_CACHE_BYTES,
  /** Limit for one result, in bytes; a larger one is not cached. */
  maxResultBytes: settings.PORTICO_CACHE_RESULT_BYTES,
});
