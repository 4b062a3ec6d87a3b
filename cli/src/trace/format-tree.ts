/**
 * Shows a trace as a tree of text: nested spans with their durations and decisions. Control characters in outside text are escaped. Pure.
 */
import { cut, visible, widthOf } from '../output/table.ts';
import type { SpanLine } from './read-traces.ts';

export interface TreeLook {
  /** Width of the terminal; longer lines are cut. Undefined: unlimited. */
  columns?: number | undefined;
  paint: {
    title(text: string): string;
    good(text: string): string;
    bad(text: string): string;
    dim(text: string): string;
  };
}

interface Row {
  /** The tree lines before its name. */
  lead: string;
  span: SpanLine;
}

/** Deeper spans are shown at this depth. */
const MAX_DEPTH = 24;

/** Formats the spans of one trace: a heading, and a line for each span. */
export function formatTree(spans: readonly SpanLine[], look: TreeLook): string {
  const rows = toRows(spans);
  const names = rows.map(({ lead, span }) => `${lead}${plain(span.name)}`);
  const times = rows.map(({ span }) => toDuration(span.duration_ms));
  const nameWidth = Math.max(...names.map(widthOf));
  const timeWidth = Math.max(...times.map(widthOf));
  const lines = rows.map(({ span }, at) => {
    const name = names[at] ?? '';
    const time = times[at] ?? '';
    const gap = ' '.repeat(nameWidth - widthOf(name) + 2 + timeWidth - widthOf(time));
    const head = `${name}${gap}${time}`;
    return head + toTail(span, look, widthOf(head));
  });
  return [toHeading(spans, look), ...lines, ''].join('\n');
}

function toHeading(spans: readonly SpanLine[], { paint }: TreeLook): string {
  const [root] = spans;
  const count = `${spans.length} span${spans.length === 1 ? '' : 's'}`;
  const lost = spans.reduce((sum, span) => sum + (span.dropped_spans ?? 0), 0);
  const more = lost === 0 ? '' : `, ${lost} more were dropped`;
  return `${paint.title(plain(root?.trace_id ?? ''))}  ${plain(root?.start ?? '')}  ${count}${more}`;
}

/** Decision, error and attributes of a span, as far as there is room. */
function toTail(span: SpanLine, { columns, paint }: TreeLook, taken: number): string {
  const attributes = Object.entries(span.attributes ?? {}).map(
    ([key, value]) => `${plain(key)}=${plain(String(value))}`,
  );
  const parts: [string, (text: string) => string][] = [];
  const { decision, error } = span;
  if (decision !== undefined) {
    const isBad = error !== undefined || /^(?:refused|denied|rejected)/.test(decision);
    parts.push([plain(decision), isBad ? paint.bad : paint.good]);
  }
  if (error !== undefined && error !== decision) parts.push([`error ${plain(error)}`, paint.bad]);
  if (span.unfinished) parts.push(['unfinished', paint.bad]);
  for (const attribute of attributes) parts.push([attribute, paint.dim]);
  let room = columns === undefined ? Infinity : columns - taken;
  let text = '';
  for (const [part, colour] of parts) {
    room -= 2;
    if (room < 2) break;
    const shown = cut(part, room);
    room -= widthOf(shown);
    text += `  ${colour(shown)}`;
  }
  return text;
}

/** Places spans under their parents, in the order they began. A span whose parent is missing is a root; each span is shown exactly once. */
function toRows(spans: readonly SpanLine[]): Row[] {
  const ids = new Set(spans.map(({ span_id: id }) => id));
  const isRoot = ({ parent_span_id: parent, span_id: id }: SpanLine) =>
    parent === undefined || parent === id || !ids.has(parent);
  const byParent = Map.groupBy(
    spans.filter(span => !isRoot(span)),
    span => span.parent_span_id ?? '',
  );
  const rows: Row[] = [];
  const shown = new Set<SpanLine>();
  const add = (span: SpanLine, lead: string, below: string, depth: number) => {
    if (shown.has(span)) return;
    shown.add(span);
    rows.push({ lead, span });
    const children = byParent.get(span.span_id) ?? [];
    for (const [at, child] of children.entries()) {
      const isLast = at === children.length - 1;
      const isDeep = depth >= MAX_DEPTH;
      const next = `${below}${isLast ? '└─ ' : '├─ '}`;
      add(
        child,
        isDeep ? lead : next,
        isDeep ? below : `${below}${isLast ? '   ' : '│  '}`,
        depth + 1,
      );
    }
  };
  for (const span of spans) if (isRoot(span)) add(span, '', '', 0);
  // Spans in a cycle have no root.
  for (const span of spans) add(span, '', '', 0);
  return rows;
}

/** Puts text on one line, without characters that move the cursor. */
const plain = (text: string): string => visible(text.replaceAll(/\s+/g, ' '));

/** Formats a duration: `950 ms`, `1.24 s`, `3 min 5 s`. */
export function toDuration(ms: number): string {
  // The rounded number decides the unit.
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 10) < 6_000) return `${(ms / 1_000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
