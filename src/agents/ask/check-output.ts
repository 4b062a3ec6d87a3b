/** Checks a result against what its tool promised: `structuredContent` against `outputSchema`. Pure. A mismatch is reported, not hidden. */
import type { JsonObject } from '../../shared/protocol.ts';
import { checkSchema } from './schema-check.ts';

export interface Typed {
  /**
   * `valid`; `mismatch`; `absent`: promised but missing; `unchecked`: the promise cannot be checked; `none`: nothing was promised; `error`:
   * the tool failed, so it promised nothing.
   */
  status: 'valid' | 'mismatch' | 'absent' | 'unchecked' | 'none' | 'error';
  detail?: string;
}

/** Most steps of a check: more than for arguments, since results are larger. */
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
