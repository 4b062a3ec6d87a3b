/** Deletes what was learned from use, whether or not the deployment still learns. */
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import type { Actor } from '../../shared/identity/principal.ts';
import type { LearnedUses } from './learned-uses.ts';
import { forgetUses } from './learning-store.ts';

export interface LearningServicePorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** This isolate's copy; undefined where the deployment does not learn. */
  learned: LearnedUses | undefined;
}

export class LearningService {
  readonly #ports: LearningServicePorts;

  constructor(ports: LearningServicePorts) {
    this.#ports = ports;
  }

  /** Deletes all learned uses. Other isolates keep their copy for an hour at most. @throws PorticoError `forbidden` */
  async forget(caller: Actor): Promise<void> {
    const { db, adminAudit, learned } = this.#ports;
    const act = { action: 'learning.forget', subject: 'learning' };
    await adminAudit.perform(caller, 'admin', act, async commit => {
      await commit({ when: ALWAYS, statements: [forgetUses(db)] });
    });
    learned?.forget();
  }
}
