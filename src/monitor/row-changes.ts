/** Whether a round found something that a server's row does not say yet: where it did not, the row is not written. Pure. */
import type { Discovery, Judged } from '../servers/registry/discovery-store.ts';
import type { Server } from '../servers/registry/server-schema.ts';

/** Whether a check says something else of a server than its row. */
export const isChange = (server: Server, { status, lastError, circuitRetryAt }: Judged) =>
  status !== server.status ||
  lastError !== server.lastError ||
  circuitRetryAt !== server.circuitRetryAt;

/** Whether a look found something else than the row has. */
export const isChanged = ({ catalogHash, verdict }: Server, found: Discovery) =>
  found.catalogHash !== catalogHash || JSON.stringify(verdict) !== JSON.stringify(found.verdict);
