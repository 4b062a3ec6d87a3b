/** Deletes what was learned from use, whether or not the deployment still learns. */
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import type { Actor } from '../../shared/identity/principal.ts';
import type { Learning } from './learning.ts';
import { forgetUses } from './learning-store.ts';

export interface LearningServicePorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** This isolate's part; undefined where the deployment does not learn. */
  learning: Pick<Learning, 'forget'> | undefined;
}

export class LearningService {
  readonly #ports: LearningServicePorts;

  constructor(ports: LearningServicePorts) {
    this.#ports = ports;
  }

  /** Deletes all learned uses. Other isolates know of it after an hour at most. @throws PorticoError `forbidden` */
  async forget(caller: Actor): Promise<void> {
    const { db, adminAudit, learning } = this.#ports;
    const act = { action: 'learning.forget', subject: 'learning' };
    await adminAudit.perform(caller, 'admin', act, async commit => {
      await commit({ when: ALWAYS, statements: [forgetUses(db)] });
    });
    learning?.forget();
  }
}
