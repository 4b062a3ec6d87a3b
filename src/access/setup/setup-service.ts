/**
 * Redeems the setup code of a new deployment: it makes one administrator with one token, once. Unknown, used and expired codes are refused
 * alike and leave no audit row.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { createTokenValue, type StoredToken } from '../../shared/identity/principal.ts';
import { insertToken } from '../policy/token-store.ts';
import { toSetupHmac } from './setup-code.ts';
import {
  deleteSetupCodes,
  insertAdministrator,
  isSetupCode,
  whenSetupCode,
} from './setup-store.ts';

export interface SetupPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
}

/** The actor of a redemption in the audit. */
const DEPLOYER = { principalId: 'setup', tokenId: 'setup', scopes: new Set(['admin'] as const) };

export class SetupService {
  readonly #ports: SetupPorts;

  constructor(ports: SetupPorts) {
    this.#ports = ports;
  }

  /**
   * Makes the first administrator.
   * @param name of the principal
   * @returns the value of its token, which is shown only here
   * @throws PorticoError `forbidden` where the code cannot be redeemed
   */
  async redeem(code: string, name: string): Promise<string> {
    const { db, keys, adminAudit } = this.#ports;
    const hmac = await toSetupHmac(code);
    const now = Date.now();
    if (!(await isSetupCode(db, hmac, now))) throw refused();
    const principalId = crypto.randomUUID();
    const token: StoredToken = {
      id: crypto.randomUUID(),
      principalId,
      name,
      servers: null,
      tools: null,
      toolsets: null,
      grantedScopes: ['admin'],
      createdAt: now,
      expiresAt: null,
    };
    const value = createTokenValue();
    const [tokenHmac = ''] = await keys.hmacs('token', value);
    const act = { action: 'setup.redeem', subject: principalId };
    return adminAudit.perform(DEPLOYER, 'admin', act, async commit => {
      const isDone = await commit({
        when: whenSetupCode(hmac, now),
        statements: [
          insertAdministrator(db, { id: principalId, name, createdAt: now }, hmac),
          insertToken(db, token, { hmac: tokenHmac, keyId: keys.active }),
          deleteSetupCodes(db, principalId),
        ],
        detail: { name, token: token.id },
      });
      if (!isDone) throw refused();
      return value;
    });
  }
}

const refused = () =>
  new PorticoError('forbidden', 'This setup code is not valid, was used, or has expired');
