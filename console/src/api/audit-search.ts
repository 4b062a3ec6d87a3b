/** What the audit can be searched by. */
import type { ListAuditData } from '../generated/types.gen.ts';

export type AuditSearch = Omit<NonNullable<ListAuditData['query']>, 'limit' | 'cursor'>;
