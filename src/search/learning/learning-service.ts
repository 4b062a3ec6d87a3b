/** Forgets what was learned from use, whether the deployment goes on learning or not. */
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import type { Actor } from '../../shared/identity/principal.ts';
import type { LearnedUses } from './learned-uses.ts';
import { forgetUses } from './learning-store.ts';

export interface LearningServicePorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** What this isolate has of it; undefined where nothing is learned. */
  learned: LearnedUses | undefined;
}

export class LearningService {
  readonly #ports: LearningServicePorts;

  constructor(ports: LearningServicePorts) {
    this.#ports = ports;
  }

  /** Delete all of it. Other isolates go by what they have read for an hour at most. @throws PorticoError `forbidden` */
  async forget(caller: Actor): Promise<void> {
    const { db, adminAudit, learned } = this.#ports;
    const act = { action: 'learning.forget', subject: 'learning' };
    await adminAudit.perform(caller, 'admin', act, async commit => {
      await commit({ when: ALWAYS, statements: [forgetUses(db)] });
    });
    learned?.forget();
  }
}
