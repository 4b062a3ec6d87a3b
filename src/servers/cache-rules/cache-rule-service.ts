/** The CRUD service for rules of the result cache. Results cached under a rule are not found again once the rule is edited or deleted. */
import {
  createEditedRecords,
  type EditedRecords,
  type RecordPorts,
} from '../../records/records.ts';
import { patched } from '../../records/record-schema.ts';
import { whereEqual } from '../../records/record-store.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { findNamed } from '../server-names.ts';
import type {
  CacheRuleQuery,
  CreateCacheRule,
  StoredCacheRule,
  UpdateCacheRule,
} from './cache-rule-schema.ts';
import { CACHE_RULES, hasCacheRule, MAX_CACHE_RULES } from './cache-rule-store.ts';

export interface CacheRulePorts extends RecordPorts {
  /** Marks the registry that this isolate remembers as stale. */
  invalidateRegistry(): void;
}

export type CacheRules = EditedRecords<
  StoredCacheRule,
  CreateCacheRule,
  CacheRuleQuery,
  UpdateCacheRule
>;

export function createCacheRules({
  db,
  adminAudit,
  invalidateRegistry,
}: CacheRulePorts): CacheRules {
  return createEditedRecords(
    { db, adminAudit },
    {
      table: CACHE_RULES,
      noun: 'cache_rule',
      missing: 'No such rule',
      onChanged: invalidateRegistry,

      make({ server, public: isPublic, ...given }: CreateCacheRule, servers, stamp) {
        const serverId = findNamed(server, servers)?.id ?? '';
        const message = `there is no server ${server}`;
        refuseFields(serverId === '' ? [{ field: 'server', message }] : []);
        return { ...stamp, ...given, server_id: serverId, is_public: isPublic };
      },

      edit: (before, { public: isPublic, ...patch }: UpdateCacheRule) =>
        patched(before, { ...patch, is_public: isPublic }),

      async whyNot({ server_id: serverId, tool }) {
        const isTaken = await hasCacheRule(db, serverId, tool);
        const taken = 'The server has a rule for these tools already';
        return new PorticoError(
          'conflict',
          isTaken ? taken : `There are ${MAX_CACHE_RULES} rules already, or the server is gone`,
        );
      },

      /** A server that does not exist has no rules. */
      filter: ({ server }: CacheRuleQuery, servers) =>
        whereEqual({ server_id: server && (findNamed(server, servers)?.id ?? '') }),

      toDetail: ({ server_id, tool, ttl_seconds, is_public }) => ({
        server_id,
        tool,
        ttl_seconds,
        public: is_public,
      }),
    },
  );
}
