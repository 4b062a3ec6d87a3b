/** The filters of an audit search. */
import type { ListAuditData } from '../generated/types.gen.ts';

export type AuditSearch = Omit<NonNullable<ListAuditData['query']>, 'limit' | 'cursor'>;
