/** Name and groups of the calling principal; every caller may read its own. */
import { findRecord } from '../../records/record-store.ts';
import { SETUP_TOKEN } from '../../shared/identity/principal.ts';
import type { Caller } from '../policy/caller.ts';
import { PRINCIPALS } from './principal-store.ts';

export interface OwnPrincipal {
  name: string;
  groups: string[];
}

export type FindOwnPrincipal = (caller: Caller) => Promise<OwnPrincipal>;

/** @returns a function that finds a caller's principal; for the deployment's admin token, the id serves as the name */
export const createFindOwnPrincipal =
  (db: D1Database): FindOwnPrincipal =>
  async ({ principalId: id }) => {
    const found = id === SETUP_TOKEN.principalId ? undefined : await findRecord(db, PRINCIPALS, id);
    if (!found) return { name: id, groups: [] };
    return { name: found.name, groups: [...new Set([...found.groups, ...found.claimed_groups])] };
  };
