/** Summarises conversion warnings: one line per tool and kind of change, however many places it affects. Pure. */
import type { ConversionWarning } from './dialect.ts';

/** The first of several similar warnings about one tool. */
export interface WarningGroup extends ConversionWarning {
  /** How many there are. */
  count: number;
}

/** Groups warnings about one tool that report the same change, whatever the new names in them. */
export function summarise(warnings: readonly ConversionWarning[]): WarningGroup[] {
  const groups = new Map<string, WarningGroup>();
  for (const warning of warnings) {
    const { tool, kind, detail } = warning;
    const done = /^(named|leads|what)\b/.exec(detail)?.[0] ?? detail;
    const key = JSON.stringify([tool, kind, done]);
    const group = groups.get(key);
    if (group) group.count += 1;
    else groups.set(key, { ...warning, count: 1 });
  }
  return [...groups.values()];
}
