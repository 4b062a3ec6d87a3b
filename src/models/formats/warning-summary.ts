/** Losses in few lines: one for each tool and kind of thing that was done in it, however many places that was. Pure. */
import type { ConversionWarning } from './dialect.ts';

/** The first of some losses of one tool that are alike. */
export interface WarningGroup extends ConversionWarning {
  /** How many there are. */
  count: number;
}

/** Losses of one tool are alike where the same was done; what something is named now does not tell them apart. */
export function summarise(losses: readonly ConversionWarning[]): WarningGroup[] {
  const groups = new Map<string, WarningGroup>();
  for (const loss of losses) {
    const { tool, kind, detail } = loss;
    const done = /^(named|leads|what)\b/.exec(detail)?.[0] ?? detail;
    const key = JSON.stringify([tool, kind, done]);
    const group = groups.get(key);
    if (group) group.count += 1;
    else groups.set(key, { ...loss, count: 1 });
  }
  return [...groups.values()];
}
