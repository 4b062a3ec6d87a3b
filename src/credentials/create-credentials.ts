/** Builds the credential services: the named secrets that servers refer to, and the rotation of the key that seals everything. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { Rotation } from './rotation.ts';
import { SecretService } from './secret-service.ts';

export interface CredentialDeps {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  allowsLoopback: boolean;
  /** Marks the registry that this isolate remembers as stale. */
  invalidateRegistry(): void;
  monitors: { wake(serverId: string): Promise<unknown> };
}

export function createCredentials({ monitors, ...deps }: CredentialDeps) {
  const onChanged = (ids: readonly string[]) =>
    Promise.allSettled(ids.map(id => monitors.wake(id)));
  return {
    secrets: new SecretService({ ...deps, onChanged }),
    rotation: new Rotation(deps),
  };
}
