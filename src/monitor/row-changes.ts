/** Whether a cycle's findings differ from a server's row; if not, the row is not written. Pure. */
import type { Discovery, Judged } from '../servers/registry/discovery-store.ts';
import type { Server } from '../servers/registry/server-schema.ts';

/** Whether the result of a check differs from the row. */
export const isChange = (server: Server, { status, lastError, circuitRetryAt }: Judged) =>
  status !== server.status ||
  lastError !== server.lastError ||
  circuitRetryAt !== server.circuitRetryAt;

/** Whether the result of a discovery differs from the row. */
export const isChanged = ({ catalogHash, verdict }: Server, found: Discovery) =>
  found.catalogHash !== catalogHash || JSON.stringify(verdict) !== JSON.stringify(found.verdict);
