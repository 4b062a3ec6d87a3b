/** API view of the deployment's language model: its name, its daily budget and today's usage. Never its key or address. */
import { z } from 'zod';
import { MODEL_PROBLEMS } from './model-port.ts';
import { MODEL_APIS } from './model-settings.ts';

export const ModelViewSchema = z.object({
  model: z
    .object({
      name: z.string(),
      api: z.enum(MODEL_APIS),
      embed_model: z.string().nullable(),
      calls_per_day: z.number().int(),
      tokens_per_day: z.number().int(),
    })
    .nullable()
    .meta({ description: 'Null if the deployment has none' }),
  day: z.string().meta({ description: 'Day in UTC' }),
  ends_at: z.iso
    .datetime()
    .meta({ description: 'When the next day begins and the budgets start again' }),
  usage: z
    .array(
      z.object({
        purpose: z
          .string()
          .meta({ description: 'What it was used for; each has a budget of its own' }),
        calls: z.number().int(),
        tokens: z.number().int(),
        failures: z
          .number()
          .int()
          .meta({ description: 'Requests that failed; some were sent again' }),
        last_problem: z
          .enum(MODEL_PROBLEMS)
          .nullable()
          .meta({ description: 'Error of the last request; null if it succeeded' }),
        last_failed_at: z.iso.datetime().nullable(),
      }),
    )
    .meta({ description: 'Of this day, by purpose' }),
});
export type ModelView = z.infer<typeof ModelViewSchema>;
