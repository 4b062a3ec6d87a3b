/** Whether a result is what its tool promised: `structuredContent` against `outputSchema`. Pure. A mismatch is told, not hidden. */
import type { JsonObject } from '../../shared/protocol.ts';
import { checkSchema } from './schema-check.ts';

export interface Typed {
  /**
   * `valid`; `mismatch`; `absent`: promised and not there; `unchecked`: the promise cannot be checked; `none`: nothing was promised;
   * `error`: the tool failed, and then it promises nothing.
   */
  status: 'valid' | 'mismatch' | 'absent' | 'unchecked' | 'none' | 'error';
  detail?: string;
}

/** Steps that a check may take: results are larger than arguments. */
const MAX_STEPS = 100_000;

/** @param outputSchema undefined where the tool has none */
export function decideTyped(outputSchema: unknown, result: JsonObject): Typed {
  if (result['isError'] === true) return { status: 'error' };
  if (outputSchema === undefined) return { status: 'none' };
  if (result['structuredContent'] === undefined) return { status: 'absent' };
  const checked = checkSchema(outputSchema, result['structuredContent'], MAX_STEPS);
  if (checked.fit === 'fits') return { status: 'valid' };
  const status = checked.fit === 'unusable' ? 'unchecked' : 'mismatch';
  return { status, detail: checked.detail };
}
