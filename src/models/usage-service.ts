/** Reports today's usage and failures of the deployment's language model (LLM-3). */
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import { endOfDay, toDay } from '../shared/util/utc-day.ts';
import type { ModelSettings } from './model-settings.ts';
import type { ModelView } from './usage-schema.ts';
import { listUsage, type PurposeUsage } from './usage-store.ts';

export class UsageService {
  readonly #db: D1Database;
  readonly #settings: ModelSettings | undefined;

  constructor(db: D1Database, settings: ModelSettings | undefined) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Lists the usage on the day of `now`, by purpose. */
  today(now: number): Promise<PurposeUsage[]> {
    return listUsage(this.#db, toDay(now));
  }

  /** @throws PorticoError `forbidden` without the scope `admin` */
  async view(caller: Actor, now: number): Promise<ModelView> {
    requireScope(caller, 'admin');
    const day = toDay(now);
    const settings = this.#settings;
    return {
      model: settings
        ? {
            name: settings.name,
            api: settings.api,
            embed_model: settings.embedModel ?? null,
            calls_per_day: settings.perDay.calls,
            tokens_per_day: settings.perDay.tokens,
          }
        : null,
      day,
      ends_at: new Date(endOfDay(now)).toISOString(),
      usage: await listUsage(this.#db, day),
    };
  }
}
